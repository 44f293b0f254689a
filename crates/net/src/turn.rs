//! Lets other tasks run before a reply is sent.

use std::task::Poll;

/// Lets the other ready tasks of this thread run first. Then replies are sent directly after each other, and the
/// threads of clients wake once for several replies. Waking them for each reply costs more than this turn.
pub async fn let_others_go_first() {
    let mut have_gone = false;
    // Unlike `tokio::task::yield_now`, this does not poll for new events, which costs more than it gains.
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut have_gone, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    async fn all_ready_tasks_run_before_the_first_continues() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let tasks = [1, 2, 3].map(|number| {
            let log = log.clone();
            tokio::spawn(async move {
                log.lock().unwrap().push(number);
                let_others_go_first().await;
                log.lock().unwrap().push(number * 10);
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*log.lock().unwrap(), [1, 2, 3, 10, 20, 30]);
    }
}
