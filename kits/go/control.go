package thriftstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// A reset waits up to five seconds for running requests, and a load may be large.
const controlLimit = 2 * time.Minute

// Error is the refusal of a request by the control port.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Sentence is what the server says about it.
	Sentence string
}

func (e *Error) Error() string {
	return e.Sentence
}

// control is the client of the control port of one database: of the server, or of a sandbox in it.
type control struct {
	base   string
	client *http.Client
}

func newControl(address string) *control {
	// No proxy: the server runs on this machine. No kept connections: none of them can have been closed meanwhile.
	transport := &http.Transport{DisableKeepAlives: true}
	return &control{base: "http://" + address, client: &http.Client{Transport: transport, Timeout: controlLimit}}
}

// ofSandbox returns the client of a sandbox of the same server.
func (c *control) ofSandbox(name string) *control {
	return &control{base: c.base + "/sandboxes/" + name, client: c.client}
}

// call sends a request with a JSON body, and reads the reply. Both may be nil.
func (c *control) call(method, path string, body, reply any) error {
	if body == nil {
		return c.send(method, path, "", nil, reply)
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.send(method, path, "application/json", encoded, reply)
}

// send sends a request with any body. If the reply is a *[]byte, it gets the bytes, else the decoded JSON.
func (c *control) send(method, path, contentType string, body []byte, reply any) error {
	request, err := http.NewRequest(method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("the control port does not answer: %w", err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("the control port does not answer: %w", err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return refusal(response.StatusCode, content)
	}
	switch reply := reply.(type) {
	case nil:
		return nil
	case *[]byte:
		*reply = content
		return nil
	default:
		return json.Unmarshal(content, reply)
	}
}

func refusal(status int, content []byte) error {
	var body struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(content, &body) != nil || body.Error == "" {
		body.Error = fmt.Sprintf("status %d: %s", status, content)
	}
	return &Error{Status: status, Sentence: body.Error}
}
