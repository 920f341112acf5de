// Command goldens renders the cases of cases.json with Go's text/template, the Sprig functions and mxj, and writes what
// they give back into the file. Run it after a change of cases: go run . (in this directory). The tests do not run it.
package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/clbanning/mxj"
)

type golden struct {
	Template string          `json:"template"`
	Data     json.RawMessage `json:"data,omitempty"`
	XML      string          `json:"xml,omitempty"`
	Output   *string         `json:"output,omitempty"`
	Error    string          `json:"error,omitempty"`
	Ours     *string         `json:"ours,omitempty"`
	Differs  string          `json:"differs,omitempty"`
}

type file struct {
	Data  json.RawMessage `json:"data"`
	Cases []*golden       `json:"cases"`
}

// whole turns JSON numbers without fraction into integers, which is how the product reads them.
func whole(value any) any {
	switch it := value.(type) {
	case json.Number:
		if n, err := it.Int64(); err == nil {
			return int(n)
		}
		f, _ := it.Float64()
		return f
	case []any:
		for i := range it {
			it[i] = whole(it[i])
		}
	case map[string]any:
		for name := range it {
			it[name] = whole(it[name])
		}
	}
	return value
}

func decode(raw json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	check(decoder.Decode(&value))
	return whole(value)
}

func xmlMarshal(value any) (string, error) {
	if m, ok := value.(mxj.Map); ok {
		value = map[string]any(m)
	}
	if m, ok := value.(map[string]any); ok {
		text, err := mxj.Map(m).Xml()
		return string(text), err
	}
	text, err := xml.Marshal(value)
	return string(text), err
}

func jsonMarshal(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

func render(it *golden, shared json.RawMessage) (out string, err error) {
	functions := sprig.TxtFuncMap()
	functions["jsonMarshal"], functions["xmlMarshal"] = jsonMarshal, xmlMarshal
	parsed, err := template.New("").Funcs(functions).Parse(it.Template)
	if err != nil {
		return "", err
	}
	var data any
	switch {
	case it.XML != "":
		m, err := mxj.NewMapXml([]byte(it.XML))
		if err != nil {
			return "", err
		}
		data = map[string]any(m)
	case it.Data != nil:
		data = decode(it.Data)
	default:
		data = decode(shared)
	}
	var text strings.Builder
	err = parsed.Execute(&text, data)
	return text.String(), err
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	mxj.XMLEscapeChars(true)
	raw, err := os.ReadFile("cases.json")
	check(err)
	var all file
	check(json.Unmarshal(raw, &all))
	for _, it := range all.Cases {
		it.Output, it.Error = nil, ""
		out, err := render(it, all.Data)
		if err != nil {
			it.Error = err.Error()
		} else {
			it.Output = &out
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	check(encoder.Encode(all))
	check(os.WriteFile("cases.json", text.Bytes(), 0o644))
}
