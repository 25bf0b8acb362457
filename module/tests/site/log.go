package site

import (
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Exchanges is the logger of the records of exchanges.
const Exchanges = "http.handlers.ai_gateway.exchanges"

// Record waits for the end of an exchange and returns its log record.
func (s *Site) Record(id string) map[string]any {
	s.T.Helper()
	return s.RecordWhere(func(entry map[string]any) bool { return entry["request_id"] == id })
}

// RecordWhere waits for the record of the first exchange that fits.
func (s *Site) RecordWhere(fits func(map[string]any) bool) map[string]any {
	s.T.Helper()
	return s.logEntry(func(entry map[string]any) bool { return entry["logger"] == Exchanges && fits(entry) })
}

// EntryWhere waits for the first entry of the log that fits.
func (s *Site) EntryWhere(fits func(map[string]any) bool) map[string]any {
	s.T.Helper()
	return s.logEntry(fits)
}

// FailedAttempt waits for the log entry about a failed attempt of an exchange.
func (s *Site) FailedAttempt(id string) map[string]any {
	s.T.Helper()
	return s.logEntry(func(entry map[string]any) bool { return entry["msg"] == "attempt failed" && entry["request_id"] == id })
}

// AccessEntry waits for the access log's entry of a request.
func (s *Site) AccessEntry(id string) map[string]any {
	s.T.Helper()
	return s.logEntry(func(entry map[string]any) bool {
		record, _ := entry["ai_gateway"].(map[string]any)
		return entry["msg"] == "handled request" && record["request_id"] == id
	})
}

func (s *Site) logEntry(fits func(map[string]any) bool) map[string]any {
	s.T.Helper()
	entry, err := s.Logs.WaitEntry(Waiting(s.T), fits)
	require.NoError(s.T, err)
	return entry
}

// AssertQuiet fails if a log entry about requests is above INFO.
func (s *Site) AssertQuiet() {
	s.T.Helper()
	for _, entry := range s.Logs.Entries() {
		if logger, _ := entry["logger"].(string); !strings.HasPrefix(logger, "http.") {
			continue
		}
		assert.Contains(s.T, []any{"debug", "info"}, entry["level"], "%v", entry)
	}
}

// AssertNoEntry fails if the log contains the text.
func (s *Site) AssertNoEntry(text string) {
	s.T.Helper()
	assert.NotContains(s.T, s.Logs.String(), text)
}
