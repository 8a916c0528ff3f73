//! The rules of the repository that neither the compiler nor clippy checks.
//!
//! Each test collects all its findings, each with a place and a remedy, and fails with the whole
//! list.

mod advisories;
mod budgets;
mod circles;
mod crates;
mod functions;
mod links;
mod members;
mod pages;
mod parameters;
mod prose;
mod repository;
mod source;
mod words;

use repository::Repository;

/// Fails with the whole list when there is a finding.
fn report(findings: &[String]) {
    assert!(
        findings.is_empty(),
        "{} finding(s):\n  {}",
        findings.len(),
        findings.join("\n  ")
    );
}

#[test]
fn rust_files_are_short() {
    report(&source::long_files(&Repository::read()));
}

#[test]
fn functions_are_short() {
    report(&functions::long_functions(&Repository::read()));
}

#[test]
fn parameters_have_names() {
    report(&parameters::taken_apart(&Repository::read()));
}

#[test]
fn lines_fit_and_have_no_tabs() {
    report(&source::layout(&Repository::read()));
}

#[test]
fn one_file_alone_has_unsafe_lints() {
    report(&source::unsafe_lints(&Repository::read()));
}

#[test]
fn budgets_have_limits_outside_tests() {
    report(&budgets::without_limits(&Repository::read()));
}

#[test]
fn nothing_is_left_for_later() {
    report(&source::unfinished(&Repository::read()));
}

#[test]
fn the_repository_speaks_of_itself_alone() {
    report(&source::foreign_names(&Repository::read()));
}

#[test]
fn words_are_those_of_the_glossary() {
    report(&words::banned(&Repository::read()));
}

#[test]
fn docs_name_what_they_speak_of() {
    report(&prose::unclear(&Repository::read()));
}

#[test]
fn every_member_has_its_page_scenario_and_test() {
    report(&members::incomplete(&Repository::read()));
}

#[test]
fn every_crate_opens_with_a_page_and_is_in_the_architecture() {
    report(&crates::undescribed(&Repository::read()));
}

#[test]
fn crates_depend_only_upwards_in_the_list() {
    report(&crates::forbidden_arrows(&Repository::read()));
}

#[test]
fn rooms_know_those_before_them() {
    report(&crates::forbidden_doors(&Repository::read()));
}

#[test]
fn files_do_not_know_each_other_in_circles() {
    report(&circles::found(&Repository::read()));
}

#[test]
fn the_core_does_no_input_or_output() {
    report(&crates::core_side_effects(&Repository::read()));
}

#[test]
fn crates_take_files_of_their_own_folder() {
    report(&crates::unpackaged_files(&Repository::read()));
}

#[test]
fn every_dependency_is_explained() {
    report(&crates::unexplained_dependencies(&Repository::read()));
}

#[test]
fn every_dependency_is_used() {
    report(&crates::unused_dependencies(&Repository::read()));
}

#[test]
fn links_lead_somewhere() {
    report(&links::broken(&Repository::read()));
}

#[test]
fn tables_end_with_a_blank_line() {
    report(&pages::joined_to_tables(&Repository::read()));
}

#[test]
fn the_glossary_names_what_the_code_has() {
    report(&pages::unknown_names(&Repository::read()));
}

#[test]
fn every_locked_crate_has_its_advisories() {
    report(&advisories::unstated(&Repository::read()));
}
