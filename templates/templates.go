// Package templates holds texts that are written for people: what toolgen init
// writes, and the reference of directives and codes. Generated Go never comes
// from here; the starter files are the user's from the moment they are written.
package templates

import _ "embed" // the texts

// Config is the first toolgen.yaml of a module.
//
//go:embed init/toolgen.yaml
var Config string

// Hooks is the first hook package of a module, whose comments teach.
//
//go:embed init/orders.go.txt
var Hooks string

// Candidates is a package in toolgen.yaml with its methods commented out: a
// text/template over Path, Output and Types with Name and Methods, those with
// Method and Summary.
//
//go:embed init/candidates.yaml.tmpl
var Candidates string

// Reference is the page of all directives and codes: a text/template over
// Directives and Codes, lists of pages.
//
//go:embed reference.md.tmpl
var Reference string
