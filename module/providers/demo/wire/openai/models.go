package openai

type modelCard struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func model(name string) any { return modelCard{ID: name, Object: "model", OwnedBy: "demo"} }

func models(names []string) any {
	data := make([]any, len(names))
	for i, name := range names {
		data[i] = model(name)
	}
	return struct {
		Object string `json:"object"`
		Data   []any  `json:"data"`
	}{"list", data}
}
