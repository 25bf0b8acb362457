package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// The separators of texts that become one, as they stand in JSON.
const (
	lineFeed  = `\n`
	blankLine = `\n\n`
)

// turn is the message being read.
type turn struct {
	body []byte
	at   place
	role string

	content  content
	thinking content
	calls    []byte  // tool calls, each with a comma before it
	hoisted  content // media out of tool results
	result   content // of one tool
	person   bool    // a user turn that holds more than tool results
	results  bool    // a user turn that holds tool results

	block      place
	blockLost  string // the path of losses in the block being read
	lastUser   int    // the last turn of a person, once it had to be found
	server     place  // the last server tool call of the last assistant turn
	serverTurn place
	serverOpen int // how many of those have no result
}

// unknownTurn stands for a turn that was not looked for.
const unknownTurn = -2

// systemRole is the role of system texts.
func (x *messagesChat) systemRole() string {
	if x.traits.DeveloperRole {
		return "developer"
	}
	return "system"
}

// Begin begins a message.
func (x *messagesChat) Begin(index int, role string) {
	t := &x.turn
	t.at = place{name: "messages", index: index}
	t.role, t.person, t.results, t.blockLost = role, false, false, lostBlock
	t.calls = t.calls[:0]
	t.hoisted.reset(lineFeed)
	t.thinking.reset(lineFeed)
	switch role {
	case "user":
		t.content.reset(lineFeed)
	case "assistant":
		t.content.reset("")
		t.serverOpen = 0
	case "system":
		t.content.reset(blankLine)
	default:
		x.invalid(t.at.path("role"), "must be 'user', 'assistant' or 'system'")
	}
}

// Text is the content of a message that is one text.
func (x *messagesChat) Text(raw []byte) {
	x.turn.person = true
	if text := inner(raw); len(text) > 0 {
		x.turn.content.add(text)
	}
}

// Block is a block of a message.
func (x *messagesChat) Block(index int, b *messages.Block) {
	if x.fault != nil {
		return
	}
	t := &x.turn
	t.block = place{up: &t.at, name: "content", index: index, depth: 1, lost: lostBlock}
	x.blockStrays(b, lostBlock)
	switch t.role {
	case "user":
		x.userBlock(b)
	case "assistant":
		x.assistantBlock(b)
	default:
		x.systemBlock(b, &t.block, &t.content)
	}
	t.blockLost = lostBlock
}

// End writes the message.
func (x *messagesChat) End(m *messages.Message) {
	if x.fault != nil {
		return
	}
	switch x.turn.role {
	case "user":
		x.endUser()
	case "assistant":
		x.endAssistant()
	default:
		x.endSystem(m)
		return
	}
	x.dropSystemMembers(m)
}

func (x *messagesChat) userBlock(b *messages.Block) {
	t := &x.turn
	if string(b.Type) == "tool_result" {
		t.results = true
		x.toolResult(b, &t.block)
		return
	}
	t.person = true
	x.piece(b, &t.block, &shelf{texts: &t.content, images: &t.content, files: &t.content})
}

// endUser writes what a user turn holds beside tool results, which stand
// before it already, together with the media out of those.
func (x *messagesChat) endUser() {
	t := &x.turn
	if t.person {
		x.overtake()
	}
	all := &t.content
	if !t.hoisted.empty() {
		all = &t.hoisted
		all.join(&t.content)
	}
	switch {
	case !all.empty():
		x.add("user", all)
	case !t.results:
		x.hint(emptyTurn)
	}
}

// overtake ends the reach of an effort that was meant for the turns before a
// person speaks again.
func (x *messagesChat) overtake() {
	if x.effort != nil {
		x.losses.AddIn(translate.Hint, lostMessage, "output_config.effort")
		x.effort = nil
	}
}

// add adds a message that is nothing but content.
func (x *messagesChat) add(role string, c *content) {
	if x.traits.ToolContentParts && len(c.ends) > 1 {
		c.toArray()
	}
	x.value = c.appendTo(x.value[:0])
	x.turns.add(x.turn.at.index, role, nil, x.value, nil)
}

// systemBlock adds a block of a system text, which can only be a text.
func (x *messagesChat) systemBlock(b *messages.Block, at *place, to *content) {
	if string(b.Type) != "text" {
		x.refuse(at.path("type"), shownText(b.Type))
		return
	}
	x.textBlock(b, at, to)
}

// endSystem writes a system turn where the provider can have it, unless it was
// meant for turns that are over.
func (x *messagesChat) endSystem(m *messages.Message) {
	t := &x.turn
	if m.OutputConfig != nil {
		x.turnEffort(m.OutputConfig)
	}
	if x.isCleared(m) && x.lastUserTurn() > t.at.index {
		return
	}
	if t.content.empty() {
		if m.OutputConfig == nil {
			x.hint(emptyTurn)
		}
		return
	}
	switch mid := x.traits.MidSystemFor(x.to); {
	case mid == translate.MidSystemUser:
		x.losses.AddIn(translate.Shaping, lostMessage, "role")
		x.add("user", &t.content)
	case mid == translate.MidSystemHoist:
		x.losses.AddIn(translate.Shaping, lostMessage, "role")
		x.hoisted.join(&t.content)
	case len(x.turns.buf) == 0 && x.turns.unite:
		x.hoisted.join(&t.content) // it follows the first system message anyway
	default:
		x.add(x.systemRole(), &t.content)
	}
}

// turnEffort reads the options of a system turn.
func (x *messagesChat) turnEffort(raw []byte) {
	path := x.turn.at.path("output_config")
	if !x.object(raw, path) {
		return
	}
	for x.options.Member() {
		if string(x.options.Name()) != "effort" {
			x.losses.AddNamed(translate.Hint, lostMessage+"output_config.", x.options.Name())
			x.options.Skip()
			continue
		}
		if effort := x.option(); isString(effort) {
			x.overtake()
			x.effort = effort
		} else if effort != nil {
			x.invalid(path+".effort", "must be a string")
		}
	}
}

// readSystem writes the first message: the system prompt and what joins it.
func (x *messagesChat) readSystem() {
	x.system.reset(blankLine)
	raw := x.request.System
	if text := inner(raw); len(text) > 0 {
		x.system.add(text)
	}
	blocks := x.nest(0, raw, place{name: "system", lost: lostSystem})
	for b := blocks.next(); b != nil; b = blocks.next() {
		x.systemBlock(b, &blocks.at, &x.system)
	}
	x.system.join(&x.hoisted)
}

// markLast puts the breakpoint of the whole request on the last part.
func (x *messagesChat) markLast() {
	if !x.traits.CacheBreakpoints || x.fault != nil {
		x.hint("cache_control")
		return
	}
	marked := x.turns.mark()
	if len(x.turns.buf) == 0 {
		x.system.mark()
		marked = true
	}
	if !marked {
		x.hint("cache_control")
	}
}

// lastUserTurn is the index of the last turn of a person, -1 if there is none.
// Few requests ask for it, so those read the conversation twice.
func (x *messagesChat) lastUserTurn() int {
	if x.turn.lastUser == unknownTurn {
		x.turn.lastUser = lastUserTurn(x.turn.body)
	}
	return x.turn.lastUser
}

// isCleared reports whether a system turn is for the turns before a person
// speaks again.
func (x *fromMessages) isCleared(m *messages.Message) bool {
	if m.ClearAt == nil {
		return false
	}
	at := textOf(m.ClearAt)
	if at != "next_user_message" && at != "never" {
		x.losses.AddIn(translate.Hint, lostMessage, "clear_at")
	}
	return at == "next_user_message"
}

// lastUserTurn is the index of the last turn of a person in a body, -1 if there
// is none.
func lastUserTurn(body []byte) int {
	finder := lastUser{index: -1}
	var reader messages.Reader
	_ = reader.Walk(body, new(messages.Request), &finder) // the first reading tells the error
	return finder.index
}

// lastUser finds the last turn of a person.
type lastUser struct {
	index, at int
	user      bool
}

func (l *lastUser) Begin(index int, role string) { l.at, l.user = index, role == "user" }

func (l *lastUser) Text([]byte) { l.person() }

func (l *lastUser) Block(_ int, b *messages.Block) {
	if string(b.Type) != "tool_result" {
		l.person()
	}
}

func (l *lastUser) person() {
	if l.user {
		l.index = l.at
	}
}

func (l *lastUser) End(*messages.Message)                {}
func (l *lastUser) Tool(int, *messages.Tool)             {}
func (l *lastUser) Other(messages.Level, []byte, []byte) {}
