package clients

import (
	"context"
	"encoding/json"

	one "github.com/anthropics/anthropic-sdk-go"
	oneoption "github.com/anthropics/anthropic-sdk-go/option"
	oneparam "github.com/anthropics/anthropic-sdk-go/packages/param"
	two "github.com/anthropics/anthropic-sdk-go/v2"
	twoparam "github.com/anthropics/anthropic-sdk-go/v2/packages/param"
)

// major is one of the majors of the vendor's client in use side by side. They
// differ on the wire: v1 sends a key as x-api-key and version 2023-06-01, v2 as
// a bearer and 2026-10-21. A request is given as its JSON, so that one test
// serves both.
type major struct {
	name   string
	create func(ctx context.Context, request []byte) (*turn, error)
	stream func(ctx context.Context, request []byte) (*turn, error)
}

// turn is an answer: as the client would send it back, with what else it says.
type turn struct {
	Param      json.RawMessage
	StopReason string
	Input      int64
	Output     int64
	Blocks     []block
}

// block is a content block of the turn as it would be sent back.
type block struct {
	Type, Text, Thinking, Signature, ID, Name string
	Input                                     json.RawMessage
}

func newTurn(param any, stopReason string, input, output int64) *turn {
	raw, err := json.Marshal(param)
	if err != nil {
		panic(err)
	}
	var message struct{ Content []block }
	if err := json.Unmarshal(raw, &message); err != nil {
		panic(err)
	}
	return &turn{raw, stopReason, input, output, message.Content}
}

// unmarked leaves out the ids of calls and the signatures, which are new for each answer.
func (t *turn) unmarked() turn {
	plain := turn{nil, t.StopReason, t.Input, t.Output, nil}
	for _, b := range t.Blocks {
		b.ID, b.Signature = "", ""
		plain.Blocks = append(plain.Blocks, b)
	}
	return plain
}

var majors = []major{
	{"anthropic-sdk-go v2", createTwo, streamTwo},
	{"anthropic-sdk-go v1", createOne, streamOne},
}

func createTwo(ctx context.Context, request []byte) (*turn, error) {
	client := newClient()
	message, err := client.Messages.New(ctx, twoparam.Override[two.MessageNewParams](json.RawMessage(request)))
	if err != nil {
		return nil, err
	}
	return turnTwo(message), nil
}

func streamTwo(ctx context.Context, request []byte) (*turn, error) {
	client := newClient()
	stream := client.Messages.NewStreaming(ctx, twoparam.Override[two.MessageNewParams](json.RawMessage(request)))
	var message two.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	return turnTwo(&message), stream.Err()
}

func turnTwo(m *two.Message) *turn {
	return newTurn(m.ToParam(), string(m.StopReason), m.Usage.InputTokens, m.Usage.OutputTokens)
}

func newClientOne() one.Client {
	return one.NewClient(
		oneoption.WithoutEnvironmentDefaults(),
		oneoption.WithBaseURL(gatewayURL),
		oneoption.WithAPIKey(gatewayKey),
		oneoption.WithMaxRetries(0),
	)
}

func createOne(ctx context.Context, request []byte) (*turn, error) {
	client := newClientOne()
	message, err := client.Messages.New(ctx, oneparam.Override[one.MessageNewParams](json.RawMessage(request)))
	if err != nil {
		return nil, err
	}
	return turnOne(message), nil
}

func streamOne(ctx context.Context, request []byte) (*turn, error) {
	client := newClientOne()
	stream := client.Messages.NewStreaming(ctx, oneparam.Override[one.MessageNewParams](json.RawMessage(request)))
	var message one.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	return turnOne(&message), stream.Err()
}

func turnOne(m *one.Message) *turn {
	return newTurn(m.ToParam(), string(m.StopReason), m.Usage.InputTokens, m.Usage.OutputTokens)
}
