//! A turn for other tasks before a reply leaves.

use std::task::Poll;

/// Lets what else is ready on this thread run first. Replies then leave one after another, and wake their clients once
/// and not each by itself, which costs more than this turn.
pub async fn let_others_go_first() {
    let mut have_gone = false;
    // Unlike `yield_now` of the runtime, this does not look for new work, which costs more than it brings.
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
    async fn all_are_at_work_before_the_first_goes_on() {
        let said = Arc::new(Mutex::new(Vec::new()));
        let tasks = [1, 2, 3].map(|number| {
            let said = said.clone();
            tokio::spawn(async move {
                said.lock().unwrap().push(number);
                let_others_go_first().await;
                said.lock().unwrap().push(number * 10);
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*said.lock().unwrap(), [1, 2, 3, 10, 20, 30]);
    }
}
