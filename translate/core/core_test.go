package core_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// source is a small format: options, and a list of items that hold parts.
var source = core.Source{Rows: core.NewRows(
	strict.Brackets,
	core.Shaping("temperature", core.Temperature),
	core.Shaping("top_p", core.TopP),
	core.Shaping("temperature+top_p", core.TopPBesideTemperature),
	core.Structural("choice.mode=any", core.ToolChoiceRequired),
	core.Structural("choice.mode=*", core.Nothing),
	core.Hint("choice.*", core.Nothing),
	core.Hint("speed", core.Nothing),
	core.Structural("region", core.Nothing).OrNothing(),
	core.Hint("*", core.Nothing),
	core.Structural("items", core.Content),
	core.Structural("items[*].parts[*].type=image", core.Image),
	core.Structural("items[-1].role=model", core.Prefill).As("items[*]"),
	core.Hint("items[*].parts[*].mark", core.CachePart),
	core.Hint("items[*].parts[*].*", core.Nothing),
), New: func() core.Reader { return new(itemReader) }}

// itemReader reads requests of that format: each part is an image with a mark.
type itemReader struct{ parts core.Object }

var partMembers = strict.NewTable(strict.Types{}, strict.Member{Name: "type"}, strict.Member{Name: "mark"})

func (r *itemReader) Forget() { *r = itemReader{} }

func (r *itemReader) Read(body []byte, x *core.Translation, w core.Writer) error {
	c := jsonscan.New(body)
	for c.EnterObject(); c.Member(); {
		if string(c.Name()) == "items" {
			r.list(&c, x, "items", func() { r.item(&c, x, w) })
		} else {
			x.Member(&c)
		}
	}
	return c.Finish()
}

// list reads the elements of an array.
func (r *itemReader) list(c *jsonscan.Cursor, x *core.Translation, name string, element func()) {
	x.At.Enter(name)
	for c.EnterArray(); c.Element(); {
		x.At.Next()
		element()
	}
	x.At.Leave()
}

func (r *itemReader) item(c *jsonscan.Cursor, x *core.Translation, w core.Writer) {
	w.Turn(core.User)
	for c.EnterObject(); c.Member(); {
		r.list(c, x, "parts", func() {
			r.parts.Read(x, c, partMembers, "")
			if x.Keep(core.Image, nil) {
				w.Image(&core.Media{})
			}
			if r.parts.Raw("mark") != nil && x.Keep(core.CachePart, nil) {
				w.CacheBreakpoint(nil)
			}
		})
	}
	w.EndTurn()
}

// spy counts what a writer gets.
type spy struct {
	core.Discard
	x             *core.Translation
	images, marks int
	at            core.Place
}

func (s *spy) Begin(x *core.Translation, _ int) { s.x = x }
func (s *spy) EndTurn()                         { s.at = s.x.At }
func (s *spy) Image(*core.Media)                { s.images++ }
func (s *spy) CacheBreakpoint([]byte)           { s.marks++ }

func (s *spy) Finish(dst []byte) []byte {
	s.x.KeepAt(s.at, core.Prefill)
	for c := core.Temperature; c <= core.ToolChoiceRequired; c++ {
		dst = append(dst, s.x.Options.Raw(c)...)
	}
	return append(dst, s.x.Extensions...)
}

// target is a provider's format with the outcomes of a test.
func target(s *spy, outcomes core.Outcomes) *core.Target {
	return &core.Target{Format: translate.Chat, Outcomes: &outcomes, New: func() core.Writer { return s }}
}

func breakpoints(traits *trait.Traits) bool { return traits.CacheBreakpoints }

func render(t *testing.T, outcomes core.Outcomes, traits *trait.Traits, body string) (string, core.Rendered, *fault.Fault, *spy) {
	t.Helper()
	s := new(spy)
	out, r, fault := core.Render(nil, []byte(body), &core.RequestInfo{Model: "m", Traits: traits}, &source, target(s, outcomes))
	return string(out), r, fault, s
}

func TestOptionsAreKeptOrLostByBothTables(t *testing.T) {
	outcomes := core.NewOutcomes(core.Keep(core.Temperature, core.TopP, core.ToolChoiceRequired, core.Prefill))
	for body, want := range map[string]struct{ out, losses, fault string }{
		`{"top_p":0.5}`:                                    {out: "0.5"},
		`{"top_p":0.5,"temperature":1}`:                    {out: "1", losses: "top_p"},
		`{"temperature":null,"top_p":0.5}`:                 {out: "0.5"},
		`{"choice":{"mode":"any","odd":1},"speed":"fast"}`: {out: `"any"`, losses: "choice.odd,speed"},
		`{"choice":{"mode":"some"}}`:                       {fault: "choice.mode: 'some' cannot be translated for model 'm' (upstream format chat)"},
		`{"choice":{"mode":7}}`:                            {fault: "choice.mode: must be a string"},
		`{"choice":7}`:                                     {fault: "choice: must be an object"},
		`{"region":"eu"}`:                                  {fault: "region: cannot be translated for model 'm' (upstream format chat)"},
		`{"region":[ ]}`:                                   {},
		`{"mine":{"a":1},"pace":2}`:                        {out: `,"pace":2`, losses: "mine"},
	} {
		out, r, fault, _ := render(t, outcomes, &trait.Traits{Extensions: []string{"pace"}}, body)
		if want.fault != "" {
			require.NotNil(t, fault, body)
			assert.Equal(t, want.fault, fault.Message)
			continue
		}
		require.Nil(t, fault, body)
		assert.Equal(t, want.out, out, body)
		assert.Equal(t, want.losses, r.Losses.String(), body)
	}
}

func TestPartsReachAWriterOnlyIfItsTableKeepsThem(t *testing.T) {
	body := `{"items":[{"parts":[{"type":"image"},{"type":"image","mark":{},"odd":1}]}]}`
	outcomes := core.NewOutcomes(core.Lose(core.Image).Unless(core.KeepIf("cache_breakpoints true", breakpoints)), core.Keep(core.Prefill))

	_, _, fault, s := render(t, outcomes, nil, body)
	require.NotNil(t, fault)
	assert.Equal(t, "items[0].parts[0].type: 'image' cannot be translated for model 'm' (upstream format chat)", fault.Message)
	assert.Equal(t, "cache_breakpoints", fault.Log.Trait, "the trait that decides")
	assert.Zero(t, s.images)

	_, r, fault, s := render(t, outcomes, &trait.Traits{CacheBreakpoints: true}, body)
	require.Nil(t, fault)
	assert.Equal(t, 2, s.images)
	assert.Zero(t, s.marks)
	assert.Equal(t, "items[*].parts[*].odd,items[*].parts[*].mark", r.Losses.String())
}

func TestDeferredDecisionsAreReportedAtTheirPath(t *testing.T) {
	_, _, fault, _ := render(t, core.Outcomes{}, nil, `{"items":[{},{}]}`)
	require.NotNil(t, fault)
	assert.Equal(t, "items[1]", fault.Param)
}

func TestListenersHearWhatNobodyCouldWrite(t *testing.T) {
	s := new(spy)
	core.Listen([]byte(`{"region":"eu","items":[{"parts":[{"type":"image","mark":{}},{"type":"image"}]}]}`), &source, s)
	assert.Equal(t, 2, s.images)
	assert.Equal(t, 1, s.marks)
}

func TestJoinMatchesRender(t *testing.T) {
	fields := core.Join(&source, target(new(spy), core.NewOutcomes(core.Lose(core.Image).Unless(core.KeepIf("cache_breakpoints true", breakpoints)), core.Change(core.TopP))))
	byName := make(map[string]core.Field)
	for _, f := range fields {
		byName[f.Name] = f
	}
	fate := func(name string, traits trait.Traits) core.Fate {
		f, ok := byName[name]
		require.True(t, ok, name)
		return f.Under(&traits)
	}
	assert.Equal(t, core.Shaped, fate("temperature", trait.Traits{}), "lost as the reader's row says")
	assert.Equal(t, core.Refused, fate("temperature", trait.Traits{RejectLosses: true}))
	assert.Equal(t, core.Shaped, fate("top_p", trait.Traits{}), "changed")
	assert.Equal(t, core.Refused, fate("items[*].parts[*].type=image", trait.Traits{}))
	assert.Equal(t, core.Kept, fate("items[*].parts[*].type=image", trait.Traits{CacheBreakpoints: true}))
	assert.Equal(t, core.Kept, fate("speed", trait.Traits{Extensions: []string{"speed"}}), "what some servers know beyond the formats")
	assert.Equal(t, "top_p", byName["temperature+top_p"].Path)
	assert.Equal(t, "items[*]", byName["items[-1].role=model"].Path)
}

func TestFieldsAreLostWithWhatTheyBelongTo(t *testing.T) {
	rows := append([]core.Row{core.Structural("picture", core.Image), core.Structural("text", core.Content)}, core.Within(core.Image,
		core.Hint("picture.mark", core.CachePart),
		core.Shaping("picture.detail", core.ImageDetail),
	)...)
	pictures := core.Source{Rows: core.NewRows(strict.Brackets, rows...)}
	under := func(image core.Entry, traits *trait.Traits) (fates []core.Fate) {
		fields := core.Join(&pictures, target(new(spy), core.NewOutcomes(image, core.Keep(core.ImageDetail))))
		for _, f := range slices.Delete(fields, 1, 2) { // without the text
			fates = append(fates, f.Under(traits))
		}
		assert.Equal(t, []string{"picture.mark", "picture"}, []string{fields[1].Path, fields[1].Outer})
		return fates
	}
	sometimes := core.Lose(core.Image).Unless(core.KeepIf("cache_breakpoints true", breakpoints))
	assert.Equal(t, []core.Fate{core.Kept, core.Hinted, core.Kept}, under(core.Keep(core.Image), new(trait.Traits)))
	assert.Equal(t, []core.Fate{core.Refused, core.Refused, core.Refused}, under(sometimes, new(trait.Traits)))
	assert.Equal(t, []core.Fate{core.Kept, core.Hinted, core.Kept}, under(sometimes, &trait.Traits{CacheBreakpoints: true}), "their own fates")
}

func TestTablesAreCheckedAtStart(t *testing.T) {
	content := core.Structural("c", core.Content)
	assert.NotPanics(t, func() { core.NewRows(strict.Dots, content) })
	assert.Panics(t, func() { core.NewRows(strict.Dots, content, core.Hint("a", core.Nothing), core.Hint("a", core.Nothing)) })
	assert.Panics(t, func() { core.NewRows(strict.Dots, core.Hint("a", core.Nothing)) }, "no path for what no field states")
	assert.Panics(t, func() { source.Rows.Named("nobody's") })
}
