package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// licences are those allowed, by a passage that only their text holds. The first
// that matches counts.
func licences() []struct{ name, passage string } {
	return []struct{ name, passage string }{
		{"MPL-2.0", "Mozilla Public License, version 2.0"},
		{"Apache-2.0", "Apache License Version 2.0"},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
		{"BSD", "Redistribution and use in source and binary forms, with or without modification, are permitted"},
		{"BSD", "SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only"}, // the choice is ours
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
		{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted"},
		{"Unlicense", "This is free and unencumbered software released into the public domain"},
	}
}

// TestLicences reads the licence of each module that the programs or the tests
// are built from.
func TestLicences(t *testing.T) {
	exempt := newExceptions(t, "licences", map[string]string{})
	for path, dir := range usedModules(t) {
		if exempt.has(path) {
			continue
		}
		if name, ok := licence(dir); !ok {
			t.Errorf("%s: no licence of the list in its files (%s): do without it, or give a reason in the exceptions", path, name)
		}
	}
}

// usedModules returns the folders of all modules that are built from.
func usedModules(t *testing.T) map[string]string {
	t.Helper()
	used := map[string]string{}
	for _, goos := range systems() {
		for _, p := range goList(t, goos, "-deps", "-test", "./...") {
			if p.Module != nil && !p.Module.Main {
				used[p.Module.Path] = p.Module.Dir
			}
		}
	}
	return used
}

var licenceName = regexp.MustCompile(`(?i)^(un)?licen[sc]e|^copying`)

// licence returns the name of a folder's licence. If all its licence files are
// of unknown text it returns their names and false.
func licence(dir string) (name string, ok bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error(), false
	}
	var files []string
	for _, e := range entries {
		if !licenceName.MatchString(e.Name()) {
			continue
		}
		files = append(files, e.Name())
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		text := strings.ToLower(strings.Join(strings.Fields(string(b)), " "))
		for _, l := range licences() {
			if strings.Contains(text, strings.ToLower(l.passage)) {
				return l.name, true
			}
		}
	}
	return strings.Join(files, ", "), false
}

// TestDependenciesAreExplained compares go.mod with the page that says why each
// module is there.
func TestDependenciesAreExplained(t *testing.T) {
	const page = "docs/dependencies.md"
	r := repository(t)
	mod, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(page)))
	if err != nil {
		t.Fatalf("%v: say there why each module is needed", err)
	}
	required := findAll(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) v\S+`, string(mod))
	explained := findAll("(?m)^\\| `([^`]+)` \\|", string(text))
	for _, m := range required {
		if !slices.Contains(explained, m) {
			t.Errorf("%s: %s of go.mod is not named: add a row with its licence and why it is needed", page, m)
		}
	}
	for _, m := range explained {
		if !slices.Contains(required, m) {
			t.Errorf("%s: %s is not in go.mod: remove its row", page, m)
		}
	}
	if len(required) == 0 {
		t.Error("go.mod requires no module: the test does not read it right")
	}
}

func findAll(pattern, text string) (list []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestLicenceBites shows that an unknown text is refused.
func TestLicenceBites(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := licence(dir); ok {
		t.Error("a folder without a licence passes")
	}
	write("LICENSE.txt", "GNU AFFERO GENERAL PUBLIC LICENSE")
	if _, ok := licence(dir); ok {
		t.Error("an unknown licence passes")
	}
	write("COPYING", "Redistribution and use in source and binary\nforms, with or without modification, are  permitted provided")
	if name, ok := licence(dir); !ok || name != "BSD" {
		t.Errorf("BSD: %q, %t", name, ok)
	}
}
