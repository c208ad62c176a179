package diag

// A Code names a kind of diagnostic. Codes are stable: 0 is toolgen.yaml, 1
// directives, 2 discovery and loading, 3 types, 4 prose, 5 names, 6 hints, 7
// output, 8 the lock.
type Code string

// The codes.
const (
	YAMLSyntax    Code = "TG001" // not YAML
	YAMLUnknown   Code = "TG002" // an unknown key
	YAMLDuplicate Code = "TG003" // a key twice
	YAMLType      Code = "TG004" // a value of the wrong type
	YAMLVersion   Code = "TG005" // version missing or not known
	YAMLDocuments Code = "TG006" // a second document
	YAMLAnchor    Code = "TG007" // an anchor or alias
	YAMLValue     Code = "TG008" // a value that is not allowed
	YAMLMissing   Code = "TG009" // a required key

	DirectiveUnknown  Code = "TG101" // no such directive
	DirectiveNearMiss Code = "TG102" // a comment that was meant as one
	DirectiveArgument Code = "TG103" // an unknown key, a wrong value or count
	DirectiveTarget   Code = "TG104" // not for this kind of declaration, repeated, or without expose
	DirectiveLost     Code = "TG105" // attached to nothing
	DirectiveInTest   Code = "TG106" // in a test file
	DirectiveExcluded Code = "TG107" // in a file that the build leaves out

	UnknownName     Code = "TG201" // a package, type or method that isn't there
	NotLoaded       Code = "TG202" // a package that can't be read
	Wildcard        Code = "TG203" // hooks are named, never matched
	Conflict        Code = "TG204" // one setting with two values
	ImportsOutput   Code = "TG205" // a hook package imports its own output
	SourceMissing   Code = "TG206" // no source to read prose from
	SignatureBroken Code = "TG207" // a hook whose types don't compile

	TypeUnsupported      Code = "TG301" // complex, chan, func, unsafe.Pointer
	TypeEmpty            Code = "TG302" // nothing that a model could send
	TypeInterface        Code = "TG303" // an interface as an argument
	TypeUnexported       Code = "TG304" // a type that generated code can't name
	ParameterUnnamed     Code = "TG305" // a parameter without a name
	Callback             Code = "TG306" // a callback that is neither hidden nor collected
	ChannelContext       Code = "TG307" // a channel whose sender nobody could stop
	WriterResult         Code = "TG308" // a writer beside data results
	ResultShape          Code = "TG309" // results that are no (T, error)
	TypeAny              Code = "TG310" // any value at all
	TypeOpaqueJSON       Code = "TG311" // MarshalJSON: nothing is known of its form
	TypeOpaqueResult     Code = "TG312" // an interface in a result
	TagConflict          Code = "TG314" // a tag against the type or a directive
	TagIgnored           Code = "TG315" // a tag that nothing enforces
	IntegerID            Code = "TG320" // an id that JavaScript would round
	EnumUnread           Code = "TG321" // a text enum whose names can't be read
	FieldOmitted         Code = "TG330" // left out by unsupported_fields
	HiddenReference      Code = "TG331" // hidden and nil for the hook
	FieldAmbiguous       Code = "TG332" // two embedded fields of one name: JSON has neither
	ResultDropped        Code = "TG333" // a response wrapper
	OptionsHidden        Code = "TG334" // variadic functions or interfaces, which are not offered
	SchemaLarge          Code = "TG335" // an output schema that costs more than it says
	TextHidden           Code = "TG401" // control or invisible characters
	TextTwice            Code = "TG403" // two differing texts
	TextUnknown          Code = "TG404" // a text for a parameter that isn't there
	HintMissing          Code = "TG405" // a verb that changes something, and no hint
	FreeCommand          Code = "TG406" // a method that takes whatever a model writes
	HintImplausible      Code = "TG407" // read-only, with a verb that changes something
	DeprecatedHook       Code = "TG410" // a deprecated method
	NoDescription        Code = "TG411" // a tool without prose
	ParameterUndescribed Code = "TG412" // an argument without prose
	DescriptionLong      Code = "TG413" // more than description_max
	TextUnfinished       Code = "TG414" // a note for maintainers
	TextGoName           Code = "TG415" // a name of Go where a model has another
	TextSecret           Code = "TG416" // what looks like a secret
	ToolsAlike           Code = "TG417" // two tools that a model will mix up
	ToolName             Code = "TG501" // not a valid tool name
	ParameterName        Code = "TG502" // not a valid argument name
	ToolTwice            Code = "TG504" // two tools with one name
	PropertyTwice        Code = "TG505" // two properties with one name
	PropertyCase         Code = "TG506" // two properties equal but for case
	HintConflict         Code = "TG601" // read-only and destructive
	ForeignFile          Code = "TG701" // a file that toolgen didn't write is in the way
	OutsideModule        Code = "TG702" // output outside of the module
	OutputPackageName    Code = "TG703" // another package name is in the folder
	LockPart             Code = "TG801" // a run over a part of the module leaves the lock alone
)
