package messages

type modelCard struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

func model(name string) any { return modelCard{"model", name, name, "1970-01-01T00:00:00Z"} }

func models(names []string) any {
	data := make([]any, len(names))
	for i, name := range names {
		data[i] = model(name)
	}
	return struct {
		Data    []any  `json:"data"`
		HasMore bool   `json:"has_more"`
		FirstID string `json:"first_id"`
		LastID  string `json:"last_id"`
	}{data, false, names[0], names[len(names)-1]}
}
