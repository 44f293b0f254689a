//! Lists against plain vectors: whatever is done to one, its elements are those that they should be.

use proptest::prelude::*;

use crate::cql::modify::testing::*;

#[derive(Debug, Clone)]
enum Step {
    Assign(Vec<i32>),
    Append(Vec<i32>),
    Prepend(Vec<i32>),
    Discard(Vec<i32>),
    Set(usize, i32),
    Delete(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let elements = || prop::collection::vec(0..4i32, 0..4);
    prop_oneof![
        1 => elements().prop_map(Step::Assign),
        3 => elements().prop_map(Step::Append),
        3 => elements().prop_map(Step::Prepend),
        2 => elements().prop_map(Step::Discard),
        2 => (0..6usize, 0..4i32).prop_map(|(at, value)| Step::Set(at, value)),
        2 => (0..6usize).prop_map(Step::Delete),
    ]
}

impl Step {
    fn statement(&self) -> String {
        let update = |what: String| format!("UPDATE t SET {what} WHERE k = 1");
        match self {
            Step::Assign(elements) => update(format!("l = {elements:?}")),
            Step::Append(elements) => update(format!("l = l + {elements:?}")),
            Step::Prepend(elements) => update(format!("l = {elements:?} + l")),
            Step::Discard(elements) => update(format!("l = l - {elements:?}")),
            Step::Set(at, value) => update(format!("l[{at}] = {value}")),
            Step::Delete(at) => format!("DELETE l[{at}] FROM t WHERE k = 1"),
        }
    }

    /// Does the same to a vector; whether it can be done.
    fn take(&self, list: &mut Vec<i32>) -> bool {
        match self {
            Step::Assign(elements) => list.clone_from(elements),
            Step::Append(elements) => list.extend(elements),
            Step::Prepend(elements) => drop(list.splice(0..0, elements.iter().copied())),
            Step::Discard(elements) => list.retain(|element| !elements.contains(element)),
            Step::Set(at, value) => return list.get_mut(*at).map(|place| *place = *value).is_some(),
            Step::Delete(at) if *at < list.len() => drop(list.remove(*at)),
            Step::Delete(_) => return false,
        }
        true
    }
}

async fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let bench = Bench::new(&["CREATE TABLE t (k int PRIMARY KEY, l list<int>)"]).await;
    let mut expected = Vec::new();
    for step in &steps {
        let can = step.take(&mut expected);
        prop_assert_eq!(bench.run(&step.statement()).await.is_ok(), can, "{:?}", step);
        let cells = bench.cells("t", "00000001", None).await;
        let values = cells.iter().map(|cell| i32::from_be_bytes(cell.value[..].try_into().unwrap()));
        prop_assert_eq!(values.collect::<Vec<_>>(), expected.clone(), "{:?}", step);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn lists_are_what_was_done_to_them(steps in prop::collection::vec(step(), 1..12)) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run(steps))?;
    }
}
