// Package toolimpl is what generated code calls: a reader of arguments and a
// writer of results, both on bytes and without reflection.
//
// It is public because generated code lives in other modules, and it is not
// for use by hand: its shape follows what the generator writes. Generated code
// and this package fit together when the constant that the generated file
// names is there ([Generation1]).
//
// # Reading
//
// A [Reader] goes once over the JSON that a model sent and puts each value
// straight into a Go variable. It names everything that is wrong, not only the
// first thing: a value of the wrong kind is reported with its JSON Pointer and
// skipped, and reading goes on. Only what isn't JSON, or is nested or sized
// beyond the limits, ends it. Nothing is allocated for a problem until there
// is one.
//
// A decoder looks like this:
//
//	o := r.Object(lineFields)
//	for r.Next(&o) {
//		switch string(r.Key()) {
//		case "sku":
//			if r.Field(&o, 0) {
//				v.SKU = r.String()
//			}
//		default:
//			r.Unknown(&o)
//		}
//	}
//	r.End(&o)
//
// A constraint is a line after the value that it is about: it says nothing of a
// value that was refused already. The same lines check arguments that Go code
// made, after [Check] and [Reader.At]:
//
//	v.Quantity = r.Int()
//	toolimpl.Minimum(r, v.Quantity, 1)
//
// It differs from encoding/json in being strict: keys match in exact case, a
// key that is unknown or there twice is refused, required ones must be there,
// integers are exact, and text must be valid UTF-8.
//
// # Writing
//
// A [Writer] appends a result to a pooled buffer; [Writer.Result] copies it
// out once. A value that JSON can't express, a cycle and a result of more than
// 8 MiB end it with an error that has the pointer. A stream ends after as many
// items as are allowed, and the result says so; readers are read to a bound and
// closed.
package toolimpl

// Generation1 is named by generated code of the first generation. When the
// contract between the two changes, it goes and a Generation2 comes, so that
// old generated code stops compiling instead of misbehaving.
const Generation1 = 1
