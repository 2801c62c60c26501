"""Reports for people and for tools: reading them back, JUnit XML, Markdown, a page, a badge."""
