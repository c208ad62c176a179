package diag

// A Page explains a code to somebody who has just met it.
type Page struct {
	Code    Code
	Meaning string // what it says, in a few words
	Cause   string // how one comes by it
	Fix     string // what to do
	Example string // what it is about, wrong and right
}

// Pages has a page for every code, in order.
var Pages = []Page{
	{
		YAMLSyntax, "toolgen.yaml is not YAML", "The parser can't read the file from this place on: a tab, an open quote or bracket, wrong indentation.",
		"Mend the line; two spaces a level are the custom.", "packages:\n\t- path: ./orders     # a tab\n  - path: ./orders    # right",
	},
	{
		YAMLUnknown, "toolgen.yaml has a key that is not known", "A misspelt key, or one that belongs to another level. An unknown key is never ignored: it may have been meant to restrict something.",
		"Write the key that is named, or look the level up in the manual.", "max_arg_bytes: 4096    # wrong\nmax_args_bytes: 4096   # right",
	},
	{
		YAMLDuplicate, "toolgen.yaml has a key twice", "The same key stands twice in one mapping, and only one could count.",
		"Drop one.", "prefix: shop\nprefix: store   # wrong",
	},
	{
		YAMLType, "toolgen.yaml has a value of another type", "A string where a list belongs, a number where a string does, and so on.",
		"Give it the type that the message names.", "hints: readonly      # wrong\nhints: [readonly]    # right",
	},
	{
		YAMLVersion, "toolgen.yaml doesn't say which version of its format it is in", "The key version is missing, or names a version that this toolgen doesn't know.",
		"Write version: 1 on top.", "version: 1\npackages: []",
	},
	{
		YAMLDocuments, "toolgen.yaml has a second document", "A line of --- begins a second document, which nothing would read.",
		"Put everything into one document.", "version: 1\n---          # wrong\npackages: []",
	},
	{
		YAMLAnchor, "toolgen.yaml has an anchor, alias or tag", "Who reviews the file should see what it says where it says it; an alias says it elsewhere.",
		"Write the value itself.", "params: &p {owner: {hide: true}}   # wrong\nparams: {owner: {hide: true}}      # right",
	},
	{
		YAMLValue, "toolgen.yaml has a value that is not allowed", "The key takes some words or a range only.",
		"Write one of the values that the message lists.", "unsupported_fields: skip   # wrong\nunsupported_fields: omit   # right",
	},
	{
		YAMLMissing, "toolgen.yaml lacks a key", "A mapping has no use without this key: a package without path, a registry without output.",
		"Add it.", "registry: {package: agenttools}                  # wrong\nregistry: {output: ./internal/agenttools}        # right",
	},
	{
		DirectiveUnknown, "there is no such directive", "The word after //toolgen: is not in the table of directives.",
		"Write the directive that is named; toolgen explain lists all of them.", "//toolgen:expos    // wrong\n//toolgen:expose   // right",
	},
	{
		DirectiveNearMiss, "a comment looks like a directive and is not one", "Go's directives are exactly // and name: without spaces and in lower case, quoted words are quoted whole, and nothing follows on the line. What nearly is one would be ignored in silence.",
		"Write it as the message shows.", "// toolgen:expose\n//toolgen:param id pattern=\"^a b$\"\n//toolgen:param id \"pattern=^a b$\"   // right",
	},
	{
		DirectiveArgument, "a directive has a wrong argument", "An unknown key, a value of the wrong form, a word too many or too few, or a value that doesn't fit the type.",
		"Write what the message shows; toolgen explain NAME has the usage.", "//toolgen:param cents minimun=1   // wrong\n//toolgen:param cents minimum=1   // right",
	},
	{
		DirectiveTarget, "a directive stands where it can't", "It belongs to another kind of declaration, is there twice, or its method is not exposed.",
		"Move it, drop one, or add //toolgen:expose.", "//toolgen:readonly\nfunc (d *Desk) Count() int   // wrong: expose is missing",
	},
	{
		DirectiveLost, "a directive belongs to nothing", "A blank line cuts it off from the declaration, or it stands in the body of a function.",
		"Move it into the doc comment.", "//toolgen:expose\n\nfunc (d *Desk) Count() int   // wrong: the blank line",
	},
	{
		DirectiveInTest, "a directive is in a test file", "Generated code can't call what only tests see.",
		"Move the method to a file without _test.", "desk_test.go:\n//toolgen:expose   // wrong",
	},
	{
		DirectiveExcluded, "a directive is in a file that the build leaves out", "Build tags, or the names of systems in the file's name, leave the file out of this run. Its tools stay as they were generated.",
		"Run with -tags, or on the system that it is for.", "//go:build windows   // this run is on Linux",
	},
	{
		UnknownName, "a name leads to nothing", "A package, type, method, field, function or error that toolgen.yaml or a directive names isn't there, or is unexported.",
		"Write the nearest name that the message lists.", "methods: [ListByRepos]   # wrong\nmethods: [ListByRepo]    # right",
	},
	{
		NotLoaded, "a package can't be loaded", "No module in go.mod provides it, its folder has no Go files, or it has a syntax error.",
		"Run go get with its path, mend the file, or check the path.", "go get github.com/google/go-github/v84/github",
	},
	{
		Wildcard, "hooks are named one by one", "A pattern would expose methods that nobody has looked at, and those of the next version too.",
		"Name each method; toolgen init -package PATH prints them all to choose from.", "methods: [\"*\"]          # wrong\nmethods: [Get, List]    # right",
	},
	{
		Conflict, "one setting has two values", "A directive and toolgen.yaml, or two directives, say different things of the same. There is no precedence, since either could be the one that restricts.",
		"Drop one.", "//toolgen:timeout 30s   and   timeout: 10s   # for the same method",
	},
	{
		ImportsOutput, "a hook package imports its own output", "The generated package imports the hook package, so the other way round is a cycle, through others as well.",
		"Link the tools from another package, such as main.", "package orders\n\nimport \"example.com/shop/orders/orderstools\"   // wrong",
	},
	{
		SourceMissing, "there is no source to read prose from", "The package comes from export data, and the file that declares the method isn't on this machine, as with -trimpath builds or a pruned module cache.",
		"Run go mod download, or write description: in toolgen.yaml.", "- {method: Get, description: Reads an issue.}",
	},
	{
		SignatureBroken, "the types of a hook don't compile", "A parameter, result or field has a type that the compiler doesn't accept.",
		"Mend it: go build says the same.", "func (d *Desk) Get(id Strng) error   // undefined: Strng",
	},
	{
		TypeUnsupported, "a type can't be sent as JSON", "Complex numbers, channels, functions and unsafe pointers have no form in JSON, nor has a type nested without end, nor a method of a generic type that was not instantiated.",
		"Hide the parameter or field, collect the callback, or expose a wrapper method.", "func (d *Desk) Refund(id string, opts func(*Options)) error\n//toolgen:hide opts",
	},
	{
		TypeEmpty, "a type has nothing that a model could send", "No field of the struct is exported, or all are hidden.",
		"Hide the parameter, export a field, or expose a wrapper.", "type Order struct{ id string }",
	},
	{
		TypeInterface, "an interface can't be sent", "A model can't choose an implementation that it doesn't know of.",
		"List the implementations in toolgen.yaml, hide the parameter, or take a concrete type.", "implementations: {shop.Payment: [Card, Invoice]}",
	},
	{
		TypeUnexported, "generated code can't name a type", "The type is unexported, declared in a function, or in an internal package of somebody else's, and generated code is another package.",
		"Export the type, or expose a wrapper.", "func (d *Desk) Get(id orderID) error   // orderID is unexported",
	},
	{
		ParameterUnnamed, "a parameter has no name", "A model is to send it by a name, and the signature has none, or _.",
		"Name it, or give names in toolgen.yaml: param_names.", "func (d *Desk) Move(string, int) error\nparam_names: [id, to]",
	},
	{
		Callback, "a callback is neither collected nor hidden", "A function that the hook calls with each value could be a stream of results, or of no interest.",
		"Say which: //toolgen:collect NAME makes what it is called with the result, //toolgen:hide NAME passes nil.", "//toolgen:collect visit\nfunc (d *Desk) Walk(visit func(Order) error) error",
	},
	{
		ChannelContext, "a channel has a sender that nobody could stop", "Reading ends at a bound, and the goroutine that sends would wait for ever.",
		"Let the method take a context and stop with it.", "func (d *Desk) Watch(ctx context.Context) <-chan Event",
	},
	{
		WriterResult, "a method writes to an io.Writer and returns data", "What is written would be the result, and so would the data.",
		"Drop one of them from the result, or expose a wrapper.", "func (d *Desk) Export(w io.Writer) (Summary, error)",
	},
	{
		ResultShape, "the results have a form that can't be served", "An error that is not last or not of type error, results without names that could be told apart, or a failure that the method can't report.",
		"Return (T, error).", "func (d *Desk) Get(id string) (*MyError, Order)   // wrong\nfunc (d *Desk) Get(id string) (Order, error)      // right",
	},
	{
		TypeAny, "an argument may be anything", "any and json.RawMessage tell a model nothing about what to send.",
		"Name a type; or, if anything is right, say so: //toolgen:allow TG310 \"why\".", "func (d *Desk) Put(key string, value any) error",
	},
	{
		TypeOpaqueJSON, "nothing is known of a type that encodes itself", "MarshalJSON can write anything, so its schema accepts anything.",
		"Give its schema, with the directive at the type or schemas: in toolgen.yaml.", "//toolgen:schema `{\"type\":\"string\",\"format\":\"date\"}`\ntype Date struct{ … }",
	},
	{
		TypeOpaqueResult, "a result holds an interface", "What it holds is known when the tool runs only, and may be nothing.",
		"Return a struct, or expose a wrapper that does.", "func (d *Desk) Get(id string) (fmt.Stringer, error)",
	},
	{
		TagConflict, "a tag says what doesn't fit", "A struct tag of another tool contradicts the field's type or a directive, so it is not heeded.",
		"Change or drop the tag.", "Qty int `jsonschema:\"minLength=1\"`",
	},
	{
		TagIgnored, "nothing enforces a tag", "The rule of a validate tag has no equal in JSON Schema, so a model isn't told of it.",
		"Say it in the field's comment, or check it in the method and return an error that errors retry= names.", "Name string `validate:\"lowercase\"`",
	},
	{
		IntegerID, "an id could lose digits", "Clients in JavaScript hold numbers as float64 and round integers beyond 2^53.",
		"Use a string, or the tag ,string at a field, if ids grow that large.", "func (d *Desk) Get(id int64) (Order, error)",
	},
	{
		EnumUnread, "the names of an enum can't be read", "MarshalText computes them, so a model is told only that it is a string.",
		"Use a switch or table over the constants, as stringer does, or give a schema.", "func (s State) MarshalText() ([]byte, error) { return []byte(strings.ToLower(names[s])), nil }",
	},
	{
		FieldOmitted, "a field is left out", "Its type can't be sent, and unsupported_fields: omit leaves such fields out; or it has nothing to show.",
		"Nothing, if the tool is of use without it; toolgen list -v shows all that is left out.", "unsupported_fields: omit",
	},
	{
		HiddenReference, "a hidden parameter is nil for the method", "Its zero value is nil, which few methods expect.",
		"Make sure that the method takes nil, then allow TG331; or pin a value.", "//toolgen:hide opts\nfunc (d *Desk) List(ctx context.Context, opts *ListOptions) ([]Order, error)",
	},
	{
		FieldAmbiguous, "two embedded fields have one name", "JSON has neither of them, by encoding/json's rule.",
		"Give one a name in a json tag, if it is to be there.", "type Order struct { Base; Meta }   // both have ID",
	},
	{
		ResultDropped, "a result is not shown", "An *http.Response, what embeds it, or what drop_results names is of no use to a model.",
		"Nothing; results: keeps some of its fields.", "results: [{index: 1, fields: [NextPage], as: page}]",
	},
	{
		OptionsHidden, "variadic options are not offered", "Functional options can't be sent as they are.",
		"Offer constructors, if a model should have them.", "//toolgen:options opts WithLimit,WithPrefix",
	},
	{
		SchemaLarge, "an output schema is large", "Clients list it with every tool, and models pay for it with every request.",
		"Show some of the fields (results:), or expose a wrapper that returns what is wanted.", "results: [{index: 0, fields: [Number, Title, State], as: issue}]",
	},
	{
		TextHidden, "a text has characters that nobody sees", "Control, zero-width and bidirectional characters are invisible in review, and models read them: that is how instructions are smuggled.",
		"Remove them.", "// Refund\\u200b pays back.",
	},
	{
		TextTwice, "a parameter is described twice", "A directive and toolgen.yaml give it different descriptions.",
		"Drop one.", "//toolgen:param id \"the number\"   and   params: {id: {description: the key}}",
	},
	{
		TextUnknown, "something is said of a parameter that isn't there", "The name is misspelt, or the parameter was renamed or removed.",
		"Write the name that is meant.", "// Parameters:\n//   - orderId: …   // the parameter is orderID",
	},
	{
		HintMissing, "a method that changes something has no hint", "By its verb it deletes, sets or replaces, and hosts that ask a person before destructive calls don't know.",
		"Add destructive, idempotent or readonly; or allow TG405.", "//toolgen:destructive\nfunc (d *Desk) DeleteOrder(ctx context.Context, id string) error",
	},
	{
		FreeCommand, "a tool runs whatever a model writes", "By its verb it executes its argument, and no guard, confinement or approval stands before it.",
		"Expose what is wanted by itself, confine the argument, or let a person approve.", "//toolgen:guard CheckCommand command\nfunc (s *Shell) Run(ctx context.Context, command string) (string, error)",
	},
	{
		HintImplausible, "a read-only tool has a verb that changes something", "Hosts run read-only tools without asking. Either the hint or the name is wrong.",
		"Drop the hint; or allow TG407, if the method only looks so.", "//toolgen:readonly\nfunc (d *Desk) DeleteOrder(ctx context.Context, id string) error",
	},
	{
		DeprecatedHook, "the method is deprecated", "Its doc comment says so, and models don't read that.",
		"Expose its successor, or allow TG410 until it is gone.", "// Deprecated: use ListAll.",
	},
	{
		NoDescription, "a tool has no description", "The method has no doc comment, and a model has only its name.",
		"Write a doc comment: what it does, when to call it, what it returns.", "// Refund pays an order back. Call it once the return has arrived.",
	},
	{
		ParameterUndescribed, "an argument has no description", "A model has only its name and type.",
		"Say what to send: an item below Parameters:, a comment at the parameter, or //toolgen:param; lint: {param_docs: off} turns this off.", "// Parameters:\n//   - id: the number on the invoice",
	},
	{
		DescriptionLong, "a description is long", "Every request carries it, and what matters drowns.",
		"Say what a caller needs; what is for maintainers goes below a heading # Internal. lint: {description_max: 2048} sets the bound.", "// # Internal",
	},
	{
		TextUnfinished, "a text says TODO", "A note for maintainers stands where models read.",
		"Finish it, or move it below a heading # Internal.", "// TODO: say what happens to open orders.",
	},
	{
		TextGoName, "a text uses a name of Go", "Models know arguments and tools by other names: order_id, not orderID; orders_cancel, not Cancel.",
		"Write the name that the message gives; a link such as [Desk.Cancel] becomes it by itself.", "// Refund pays orderID back.    // wrong\n// Refund pays order_id back.   // right",
	},
	{
		TextSecret, "a text has what looks like a secret", "Keys, tokens and passwords in a comment or example go to every model that is given the tool.",
		"Remove it, and change the secret if it is one. It is not repeated in the message.", "// Connects to postgres://shop:hunter2@db/shop.",
	},
	{
		ToolsAlike, "a model will mix two tools up", "They have the same name but for a plural, or the same description.",
		"Say what each is for that the other is not.", "list_order: Lists orders.\nlist_orders: Lists orders.",
	},
	{
		ToolName, "a tool's name is not valid", "It must match ^[A-Za-z_][A-Za-z0-9_-]{0,63}$, which every model API takes. Names are never cut or hashed.",
		"Set name= or a shorter prefix.", "//toolgen:expose name=shop_refund",
	},
	{
		ParameterName, "an argument's name is not valid", "It must match ^[a-zA-Z_][a-zA-Z0-9_]{0,63}$, which every model API takes.",
		"Rename the parameter.", "func (d *Desk) Measure(größe int) error",
	},
	{
		ToolTwice, "two tools have one name", "A registry can't tell them apart.",
		"Set name= at one, or another prefix.", "//toolgen:toolset prefix=archive",
	},
	{
		PropertyTwice, "two properties have one name", "Two parameters, results or fields are the same in JSON.",
		"Rename one, or name it in a json tag.", "func (d *Desk) Move(orderID, order_id string) error",
	},
	{
		PropertyCase, "two properties are equal but for case", "Models and JSON readers mix them up.",
		"Rename one in its json tag.", "ID string `json:\"ID\"`\nId string `json:\"id\"`",
	},
	{
		HintConflict, "a tool is both read-only and destructive", "It can't be both, and hosts act on either.",
		"Drop one.", "//toolgen:readonly\n//toolgen:destructive",
	},
	{
		ForeignFile, "a file is in the way that toolgen didn't write", "Output goes to a path where a file of somebody else's is: it doesn't begin with toolgen's header. It is never replaced.",
		"Move it, or choose another output.", "orders/orderstools/tools_gen.go, written by hand",
	},
	{
		OutsideModule, "output would go outside of the module", "The folder is absolute or above the module's root, where the generated package would belong to another module or none.",
		"Write a folder below the module, relative to toolgen.yaml.", "output: ../tools           # wrong\noutput: ./internal/tools   # right",
	},
	{
		OutputPackageName, "another package is in the folder", "The folder for output has Go files of a package of another name, and a folder holds one package.",
		"Choose another output, or set package: to that name.", "output: ./internal, package: githubtools   # where package internal is",
	},
	{
		LockPart, "a run over a part leaves the lock alone", "With patterns only those packages' files are written; toolgen.lock and registries are over all of them.",
		"Run toolgen without patterns before you commit.", "toolgen ./orders   # then: toolgen",
	},
}
