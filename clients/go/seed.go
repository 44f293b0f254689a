package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

const seedFile = "../seed.json"

// sample is the content of the seed file; its times are in seconds since 1970.
type sample struct {
	Authors []struct {
		Name    string
		Joined  int64
		Profile map[string]string
	}
	Posts []struct {
		Slug, Title, Body, Author string
		Tags                      []string
		Time                      int64
	}
	Comments []struct {
		Slug, Commenter, Email, Text string
		Time                         int64
	}
}

func (a app) seed(ctx context.Context, _ []string) (string, error) {
	sample, err := readSample()
	if err != nil {
		return "", err
	}
	for _, author := range sample.Authors {
		var profile []Field
		for name, value := range author.Profile {
			profile = append(profile, Field{name, value})
		}
		if err := a.blog.SaveAuthor(ctx, author.Name, profile, time.Unix(author.Joined, 0)); err != nil {
			return "", err
		}
	}
	for _, p := range sample.Posts {
		post := Post{p.Slug, p.Title, p.Body, p.Author, p.Tags, time.Unix(p.Time, 0)}
		if err := a.blog.Publish(ctx, post); err != nil {
			return "", err
		}
	}
	for _, c := range sample.Comments {
		comment := Comment{c.Commenter, c.Email, c.Text, time.Unix(c.Time, 0)}
		if err := a.blog.AddComment(ctx, c.Slug, comment); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("Wrote %d authors, %d posts and %d comments.",
		len(sample.Authors), len(sample.Posts), len(sample.Comments)), nil
}

func readSample() (sample, error) {
	var sample sample
	text, err := os.ReadFile(seedFile)
	if err != nil {
		return sample, failure(err.Error())
	}
	return sample, json.Unmarshal(text, &sample)
}
