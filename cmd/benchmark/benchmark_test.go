package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if !playRole() { // the processes that a test starts are processes of the test binary
		os.Exit(m.Run())
	}
}

// The program checks every answer: this is also a test of all setups and scenarios.
func TestEachGatewayAnswersEachScenario(t *testing.T) {
	folder := t.TempDir()
	results, picture := filepath.Join(folder, "results.json"), filepath.Join(folder, "ratios.svg")
	require.NoError(t, run([]string{"-rounds", "1", "-duration", "1ms", "-json", results, "-svg", picture}))

	written, err := os.ReadFile(results)
	require.NoError(t, err)
	var all []result
	require.NoError(t, json.Unmarshal(written, &all))
	assert.Len(t, all, len(setups)*len(scenarios))
	drawn, err := os.ReadFile(picture)
	require.NoError(t, err)
	assert.Equal(t, len(all), bytes.Count(drawn, []byte("<rect ")))
}

func TestWrongFlagsAreNamed(t *testing.T) {
	for args, want := range map[[2]string]string{
		{"-gateways", "fast"}:    "-gateways",
		{"-scenarios", "images"}: "-scenarios",
		{"-rounds", "0"}:         "-rounds",
	} {
		_, err := parse(args[:])
		assert.ErrorContains(t, err, want)
	}
}

// A machine that becomes slower changes all gateways of a round: the ratio of the medians
// would compare a slow round of one with a fast round of another.
func TestARatioIsThatOfOneRound(t *testing.T) {
	var results []result
	for round, speed := range []float64{1, 10, 100} {
		results = append(results,
			result{Round: round, Scenario: "s", Gateway: baseline, measurement: measurement{CPU: speed}},
			result{Round: round, Scenario: "s", Gateway: "full", measurement: measurement{CPU: 2 * speed}})
	}
	all := summarize(results)
	require.Len(t, all, 2)
	assert.Equal(t, 1.0, all[0].ratio)
	assert.Equal(t, 2.0, all[1].ratio)
}

func TestAnAnswerThatIsNotWholeIsAnError(t *testing.T) {
	for _, s := range scenarios {
		c := &client{scenario: s}
		whole := jsonAnswers[s.client]
		if s.streams {
			whole = streams[s.client]()
		}
		assert.NoError(t, c.check([]byte(whole)), s.name)
		assert.Error(t, c.check([]byte(whole[:len(whole)/2])), s.name)
	}
}
