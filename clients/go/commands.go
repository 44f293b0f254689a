package main

import (
	"context"
	"fmt"
	"time"
)

// failure says why what was asked for cannot be done.
type failure string

func (f failure) Error() string {
	return string(f)
}

// app is what the commands work with. Each of them answers with the text to print.
type app struct {
	blog *Blog
	now  time.Time
}

type command struct {
	operands int
	run      func(app, context.Context, []string) (string, error)
}

// takes is false for the zero command, which stands for an unknown one.
func (c command) takes(operands []string) bool {
	return c.run != nil && len(operands) == c.operands
}

var commands = map[string]command{
	"seed":    {0, app.seed},
	"front":   {0, app.front},
	"post":    {1, app.post},
	"tag":     {1, app.tag},
	"author":  {1, app.author},
	"write":   {5, app.write},
	"comment": {4, app.comment},
}

func (a app) front(ctx context.Context, _ []string) (string, error) {
	posts, err := a.blog.LatestPosts(ctx, 10)
	if err != nil {
		return "", err
	}
	if len(posts) == 0 {
		return "", failure("there are no posts yet; the command seed writes some")
	}
	return listPage("The latest posts", posts), nil
}

func (a app) post(ctx context.Context, operands []string) (string, error) {
	post, err := a.existingPost(ctx, operands[0])
	if err != nil {
		return "", err
	}
	comments, err := a.blog.Comments(ctx, post.Slug)
	if err != nil {
		return "", err
	}
	return postPage(post, comments), nil
}

func (a app) tag(ctx context.Context, operands []string) (string, error) {
	tag := operands[0]
	posts, err := a.blog.PostsTagged(ctx, tag)
	if err != nil {
		return "", err
	}
	if len(posts) == 0 {
		return "", failure("no post is tagged " + tag)
	}
	return listPage("Posts tagged "+tag, posts), nil
}

func (a app) author(ctx context.Context, operands []string) (string, error) {
	name := operands[0]
	profile, err := a.existingAuthor(ctx, name)
	if err != nil {
		return "", err
	}
	return authorPage(name, profile), nil
}

func (a app) write(ctx context.Context, operands []string) (string, error) {
	post := Post{
		Slug:   operands[0],
		Title:  operands[1],
		Author: operands[2],
		Tags:   splitTags(operands[3]),
		Body:   operands[4],
		Time:   a.now,
	}
	if _, err := a.existingAuthor(ctx, post.Author); err != nil {
		return "", err
	}
	same, err := a.blog.Posts(ctx, []string{post.Slug})
	if err != nil {
		return "", err
	}
	if len(same) > 0 {
		return "", failure(fmt.Sprintf("there is a post %s already", post.Slug))
	}
	return fmt.Sprintf("Published %s.", post.Slug), a.blog.Publish(ctx, post)
}

func (a app) comment(ctx context.Context, operands []string) (string, error) {
	slug := operands[0]
	comment := Comment{Commenter: operands[1], Email: operands[2], Text: operands[3], Time: a.now}
	if _, err := a.existingPost(ctx, slug); err != nil {
		return "", err
	}
	return fmt.Sprintf("Commented on %s.", slug), a.blog.AddComment(ctx, slug, comment)
}

func (a app) existingPost(ctx context.Context, slug string) (Post, error) {
	posts, err := a.blog.Posts(ctx, []string{slug})
	if err != nil {
		return Post{}, err
	}
	if len(posts) == 0 {
		return Post{}, failure("there is no post " + slug)
	}
	return posts[0], nil
}

func (a app) existingAuthor(ctx context.Context, name string) ([]Field, error) {
	profile, err := a.blog.Author(ctx, name)
	if err == nil && len(profile) == 0 {
		err = failure("there is no author " + name)
	}
	return profile, err
}
