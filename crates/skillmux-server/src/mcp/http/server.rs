//! [`serve_http`]: connections from their beginning to their end.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc, time::Duration};

use http::Request;
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;
use tower_service::Service as _;

use super::{
    HttpListener, MAX_ANSWER_TIME, MAX_BODY_BYTES, MAX_CONNECTIONS, MAX_REQUESTS, PATIENCE,
    answer::{Answer, Refusal, as_json},
    guard,
};
use crate::{
    ServerError, State,
    mcp::{server::SkillServer, stop::told_to_stop, tools::Tools},
};

/// How long requests under way may take once the server is told to stop.
const FAREWELL: Duration = Duration::from_secs(5);

/// Longest head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// What a connection beyond the most is told, before it is closed.
const TOO_MANY: &str = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"too many connections; try again in a moment"}}"#;

/// Serves a state, or a router, over HTTP until the process is told to stop (Ctrl-C, or SIGTERM).
///
/// Requests under way get five seconds to finish.
///
/// # Errors
///
/// [`ServerError::Runtime`] if the async runtime does not start, and [`ServerError::Listen`] if the
/// socket cannot be used.
pub fn serve_http(state: impl Into<State>, listener: HttpListener) -> Result<(), ServerError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(MAX_REQUESTS)
        .enable_all()
        .build()
        .map_err(|source| ServerError::Runtime { source })?;
    let result = runtime.block_on(SkillServer::new(state).run_http(listener, told_to_stop()));
    // A call that still runs ends with the process.
    runtime.shutdown_background();
    result
}

impl SkillServer {
    /// Serves over HTTP until `stop` ends; then, requests under way get five seconds to finish.
    ///
    /// Needs a tokio runtime with its timer and its sockets enabled.
    ///
    /// # Errors
    ///
    /// [`ServerError::Listen`] if the socket cannot be used.
    pub async fn run_http(
        self,
        listener: HttpListener,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let listener = listener.into_tokio()?;
        serve_until(HttpService::new(self.into_state()), listener, stop).await;
        Ok(())
    }
}

async fn serve_until(service: HttpService, listener: TcpListener, stop: impl Future<Output = ()>) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of handles, most likely: they come back when connections close.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            tokio::spawn(turn_away(stream));
            continue;
        };
        let service = service.clone();
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(
                TokioIo::new(patient(stream)),
                service_fn(move |request| {
                    let service = service.clone();
                    async move { Ok::<_, Infallible>(service.answer(request).await) }
                }),
            );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that goes away, or speaks no HTTP, is its own business.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = timeout(FAREWELL, graceful.shutdown()).await;
}

/// Returns a connection that ends if its client does not read.
fn patient(stream: TcpStream) -> Pin<Box<TimeoutStream<TcpStream>>> {
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(PATIENCE));
    Box::pin(stream)
}

async fn turn_away(mut stream: TcpStream) {
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\nretry-after: 1\r\n\r\n{TOO_MANY}",
        TOO_MANY.len()
    );
    let _ = timeout(FAREWELL, stream.write_all(answer.as_bytes())).await;
    let _ = stream.shutdown().await;
}

/// Answers requests of all connections.
#[derive(Clone)]
struct HttpService {
    mcp: StreamableHttpService<Tools, NeverSessionManager>,
    requests: Arc<Semaphore>,
}

impl HttpService {
    fn new(state: State) -> Self {
        let tools = Tools::new(state);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_keep_alive(None)
            .with_max_request_body_bytes(MAX_BODY_BYTES)
            // The guard has checked it, and before the body is read.
            .disable_allowed_hosts();
        let sessions = Arc::new(NeverSessionManager::default());
        Self {
            mcp: StreamableHttpService::new(move || Ok(tools.clone()), sessions, config),
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
        }
    }

    async fn answer(self, request: Request<Incoming>) -> Answer {
        match self.passed_on(request).await {
            Ok(answer) => as_json(answer).await,
            Err(refusal) => refusal.answer(),
        }
    }

    async fn passed_on(mut self, request: Request<Incoming>) -> Result<Answer, Refusal> {
        guard::check(&request)?;
        let (parts, body) = request.into_parts();
        let body: Bytes = guard::body(&parts.headers, body).await?;
        let permit = timeout(PATIENCE, self.requests.acquire()).await;
        let Ok(Ok(_permit)) = permit else { return Err(Refusal::Busy) };
        let answer = self.mcp.call(Request::from_parts(parts, Full::new(body)));
        match timeout(MAX_ANSWER_TIME, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(never)) => match never {},
            Err(_) => Err(Refusal::Late),
        }
    }
}
