//! What the script of a gate's index does, in a browser.

#[path = "../../../tests/support/require.rs"]
mod require;

use std::fs;
use std::path::Path;
use std::process::Command;

use require::{skipped, Need};
use spirv_tv_gate::{report, Judged, Judgement, Record, Results, Status};

fn browser() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|it| it.status.success());
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

/// The index of a run with a case of each status; bad ones are unexpected.
fn index(folder: &Path) -> String {
    let case = |(at, status): (usize, Status)| {
        let mut record = Record::new(format!("folder-{}/{status}", at % 2), status, status.meaning());
        // As text they would stand in another order.
        record.seconds = [9.5, 10.0, 100.25][at % 3];
        let unexpected = status >= Status::Timeout;
        Judgement { record, judged: Judged::As(status), unexpected, expected: None, note: None }
    };
    let cases = Status::ALL.into_iter().enumerate().map(case).collect();
    report::html(&Results { cases, ..Results::default() }, folder, folder).unwrap();
    fs::read_to_string(folder.join("index.html")).unwrap()
}

#[test]
fn the_table_is_filtered_and_sorted() {
    let Some(browser) = browser() else {
        return skipped(Need::Chromium, "there is no chromium: the table of cases is not tried");
    };
    let folder = tempfile::tempdir().unwrap();
    let script = "
        const table = document.getElementById('table'), rows = () => [...table.tBodies[0].rows];
        const shown = () => rows().filter((row) => getComputedStyle(row).display != 'none').length;
        const box = document.getElementById('filter'), said = [];
        const type = (text) => { box.value = text; box.dispatchEvent(new Event('input')); };
        said.push(shown());
        type('FOLDER-1 ran'); said.push(shown() + ' ' + document.getElementById('told').value); type('');
        document.querySelector('.s-unexpected').click(); said.push(shown());
        document.querySelector('.s-unexpected').click(); said.push(shown());
        const seconds = table.tHead.querySelectorAll('button')[4], text = (row) => row.cells[4].textContent;
        seconds.click(); said.push(text(rows()[0]) + ' ' + text(rows().at(-1)) + ' ' + seconds.parentNode.ariaSort);
        seconds.click(); said.push(text(rows()[0]) + ' ' + text(rows().at(-1)) + ' ' + seconds.parentNode.ariaSort);
        const cases = table.tHead.querySelectorAll('button')[0];
        cases.click(); said.push(rows()[0].cells[0].textContent + ' ' + seconds.parentNode.ariaSort);
        document.body.textContent = 'SAID ' + said.join('|') + ' END';
    ";
    let page = index(folder.path()).replace("</body>", &format!("<script>{script}</script></body>"));
    let path = folder.path().join("page.html");
    fs::write(&path, page).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.split_once("SAID ").and_then(|(_, rest)| rest.split_once(" END"));
    let (said, _) = said.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    // A row for each status.
    let all = Status::ALL.len();
    let (told, all) = (format!("2 2 of {all} rows"), all.to_string());
    let expected = [
        &*all,
        // Hollow and Timeout: the code never ran, and time ran out. Inconclusive is in the other folder.
        &told,
        "9",
        &all,
        "9.5 100.2 ascending",
        "100.2 9.5 descending",
        "folder-0/Bounded null",
    ];
    assert_eq!(said.split('|').collect::<Vec<&str>>(), expected);
}
