package aso

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFollow(t *testing.T) {
	type result struct {
		UnderWay, Ended bool
		Err             error
		Token           string // what is kept after that
	}
	failed, unknown := refuse(200, "OperationFailed"), refuse(404, "OperationNotFound")
	throttled := refuse(429, "TooManyRequests")
	cases := map[string]struct {
		reason string
		kept   kept[int]
		want   result
	}{
		"nothing": {"there is no token to ask with", kept[int]{}, result{}},
		"going on": {"it is asked again, with the same token", kept[int]{token: "t", polls: map[string]polled{"t": {}}},
			result{UnderWay: true, Token: "t"}},
		"no answer": {"that says nothing of the operation",
			kept[int]{token: "t", polls: map[string]polled{"t": {err: errDown}}},
			result{UnderWay: true, Err: errDown, Token: "t"}},
		"throttled": {"Azure says nothing about the operation",
			kept[int]{token: "t", polls: map[string]polled{"t": {err: throttled}}},
			result{UnderWay: true, Err: throttled, Token: "t"}},
		"unknown to Azure": {"it would be polled for ever",
			kept[int]{token: "t", polls: map[string]polled{"t": {err: unknown}}},
			result{UnderWay: true, Ended: true, Err: unknown}},
		"done": {"the token is of no more use", kept[int]{token: "t", polls: map[string]polled{"t": {done: true}}},
			result{UnderWay: true, Ended: true}},
		"failed": {"nor is that of one that failed",
			kept[int]{token: "t", polls: map[string]polled{"t": {done: true, err: failed}}},
			result{UnderWay: true, Ended: true, Err: failed}},
		"not forgotten": {"the token of what is over stays, which is an error",
			kept[int]{token: "t", polls: map[string]polled{"t": {done: true}}, lost: errDown},
			result{UnderWay: true, Ended: true, Err: errDown, Token: "t"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			op := tc.kept
			underWay, ended, err := follow(t.Context(), &op, 0)
			if !errors.Is(err, tc.want.Err) {
				t.Errorf("%s: %v, want %v", tc.reason, err, tc.want.Err)
			}
			tc.want.Err = nil
			if diff := cmp.Diff(tc.want, result{UnderWay: underWay, Ended: ended, Token: op.token}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBegin(t *testing.T) {
	cases := map[string]struct {
		reason string
		token  string
		err    error
		lost   error
		want   error
		kept   string
	}{
		"begun":        {"it is followed by its token", "t", nil, nil, nil, "t"},
		"over at once": {"there is nothing to follow", "", nil, nil, nil, ""},
		"not asked":    {"nor to keep", "", nil, errDown, nil, ""},
		"refused":      {"there is nothing to follow", "t", errDown, nil, errDown, ""},
		"not kept":     {"it would be begun again, which somebody should know", "t", nil, errDown, errDown, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // a token is kept even when the pass is called off
			op := &kept[int]{lost: tc.lost}
			if err := begin(ctx, op, 0, tc.token, tc.err); !errors.Is(err, tc.want) || op.token != tc.kept {
				t.Errorf("%s: %v, keeps %q, want %v, %q", tc.reason, err, op.token, tc.want, tc.kept)
			}
		})
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	op := &kept[int]{token: "t", polls: map[string]polled{"t": {done: true}}}
	if _, _, err := follow(ctx, op, 0); err != nil || op.token != "" {
		t.Errorf("%v, keeps %q: a token is removed even when the pass is called off", err, op.token)
	}
}

func TestFailure(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		status int
		code   string
	}{
		"Nil":     {"no error has neither", nil, 0, ""},
		"Azure":   {"an answer of Azure has both", refuse(409, "Conflict"), 409, "Conflict"},
		"Wrapped": {"a wrapper hides neither", fmt.Errorf("PUT: %w", refuse(403, "AuthorizationFailed")), 403, "AuthorizationFailed"},
		"Network": {"Azure did not answer", errDown, 0, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := failure(tc.err); got.Status != tc.status || got.Code != tc.code {
				t.Errorf("%s: got %d %q, want %d %q", tc.reason, got.Status, got.Code, tc.status, tc.code)
			}
		})
	}
}
