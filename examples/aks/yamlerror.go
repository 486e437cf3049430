package main

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// empty reports whether a document is empty.
func empty(doc *yaml.Node) bool {
	return doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 || doc.Content[0].Tag == "!!null"
}

// kindOf returns the kind of a document.
func kindOf(doc *yaml.Node) (string, error) {
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return "", fmt.Errorf("line %d: not a resource; use a mapping with kind, metadata and spec", top.Line)
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value == "kind" {
			return top.Content[i+1].Value, nil
		}
	}
	return "", errors.New("kind: missing")
}

// oneLine shortens an error of the YAML library to one line: the first problem,
// with the field on its line. doc may be nil.
func oneLine(err error, doc *yaml.Node) string {
	text := err.Error()
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) && len(wrong.Errors) > 0 {
		text = wrong.Errors[0]
	}
	text = strings.TrimPrefix(strings.Join(strings.Fields(text), " "), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 0 || doc == nil {
		return text
	}
	_, text, _ = strings.Cut(text, ": ")
	if strings.HasPrefix(text, "field ") && strings.Contains(text, " not found in type ") {
		text = "unknown field"
	}
	return fmt.Sprintf("line %d: %s: %s", line, fieldOn(doc, line), text)
}

// fieldOn returns the path of the last field that begins on a line, such as
// "spec.count".
func fieldOn(node *yaml.Node, line int) string {
	found := ""
	switch node.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, child := range node.Content {
			if f := fieldOn(child, line); f != "" {
				found = f
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			inner := fieldOn(value, line)
			switch {
			case inner != "":
				found = key.Value + "." + inner
			case key.Line == line || value.Line == line:
				found = key.Value
			}
		}
	}
	return found
}
