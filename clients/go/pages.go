// What the reader sees: each page is a text, times are in UTC.

package main

import (
	"fmt"
	"strings"
	"time"
)

func listPage(heading string, posts []Post) string {
	parts := []string{heading}
	for _, post := range posts {
		parts = append(parts, summary(post))
	}
	return strings.Join(parts, "\n\n")
}

func summary(post Post) string {
	margin := strings.Repeat(" ", 18)
	return clock(post.Time) + "  " + post.Title + "\n" + margin + byline(post) + "\n" + margin + post.Slug
}

func postPage(post Post, comments []Comment) string {
	head := post.Title + "\n" + clock(post.Time) + " " + byline(post)
	count := fmt.Sprintf("%d comments", len(comments))
	if len(comments) == 1 {
		count = "1 comment"
	}
	parts := []string{head, post.Body, count}
	for _, comment := range comments {
		parts = append(parts, remark(comment))
	}
	return strings.Join(parts, "\n\n")
}

func remark(comment Comment) string {
	text := strings.ReplaceAll(comment.Text, "\n", "\n    ")
	return fmt.Sprintf("%s  %s <%s>\n    %s", clock(comment.Time), comment.Commenter, comment.Email, text)
}

func authorPage(name string, profile []Field) string {
	lines := []string{name, ""}
	for _, field := range profile {
		lines = append(lines, fmt.Sprintf("%-10s  %s", field.Name, field.Value))
	}
	return strings.Join(lines, "\n")
}

func byline(post Post) string {
	if len(post.Tags) == 0 {
		return "by " + post.Author
	}
	return "by " + post.Author + " in " + strings.Join(post.Tags, ", ")
}

func clock(moment time.Time) string {
	return moment.UTC().Format("2006-01-02 15:04")
}
