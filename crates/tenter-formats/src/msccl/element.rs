//! XML elements with their lines.

use std::str::FromStr;

use roxmltree::Node;

use crate::error::{ImportError, Place};

pub(super) type Read<T> = Result<T, ImportError>;

/// An element of the file.
#[derive(Clone, Copy)]
pub(super) struct Element<'d, 'i>(Node<'d, 'i>);

impl<'d, 'i> Element<'d, 'i> {
    pub(super) fn of(node: Node<'d, 'i>) -> Element<'d, 'i> {
        Element(node)
    }

    pub(super) fn name(&self) -> &'d str {
        self.0.tag_name().name()
    }

    /// Returns the byte at which the element begins.
    pub(super) fn start(&self) -> usize {
        self.0.range().start
    }

    /// Returns the element's line for an error. This reads the text from its beginning.
    fn line(&self) -> usize {
        self.0.document().text_pos_at(self.start()).row as usize
    }

    pub(super) fn wrong(&self, what: impl Into<String>, remedy: &str) -> ImportError {
        ImportError::new(Place::Line(self.line()), what, remedy)
    }

    /// Iterates over the names of all attributes.
    pub(super) fn attributes(&self) -> impl Iterator<Item = &'i str> {
        self.0.attributes().map(|attribute| attribute.name())
    }

    /// Returns the value of an attribute, which must be there.
    pub(super) fn text(&self, name: &str) -> Read<&'d str> {
        let found = self.0.attribute(name);
        found.ok_or_else(|| {
            let what = format!("a `{}` lacks `{name}`", self.name());
            self.wrong(what, &format!("add `{name}=\"…\"`"))
        })
    }

    pub(super) fn parsed<T: FromStr>(&self, name: &str, text: &str) -> Read<T> {
        text.trim().parse().map_err(|_| {
            let what = format!("`{name}` of a `{}` is `{text}`", self.name());
            self.wrong(what, "write a whole number")
        })
    }

    /// Parses an attribute that must be there.
    pub(super) fn number<T: FromStr>(&self, name: &str) -> Read<T> {
        self.parsed(name, self.text(name)?)
    }

    /// Parses an attribute; `usual` is its value if it is absent.
    pub(super) fn number_or<T: FromStr>(&self, name: &str, usual: T) -> Read<T> {
        let found = self.0.attribute(name);
        found.map_or(Ok(usual), |text| self.parsed(name, text))
    }

    /// Parses an attribute in which −1 stands for none.
    pub(super) fn number_or_none(&self, name: &str) -> Read<Option<u32>> {
        match self.text(name)?.trim() {
            "-1" => Ok(None),
            text => self.parsed(name, text).map(Some),
        }
    }

    /// Returns the elements within, and refuses any whose name is not in `names`.
    pub(super) fn children(&self, names: &[&str]) -> Read<Vec<Element<'d, 'i>>> {
        let elements = self.0.children().filter(Node::is_element).map(Element);
        let elements: Vec<_> = elements.collect();
        match elements.iter().find(|of| !names.contains(&of.name())) {
            None => Ok(elements),
            Some(other) => {
                let what = format!("a `{}` stands in a `{}`", other.name(), self.name());
                Err(other.wrong(what, &format!("only `{}` stands there", names.join("`, `"))))
            }
        }
    }
}
