// Package main measures how much of the Go world toolgen can turn into tools.
//
// The corpus is 14 client libraries of many makers. Every candidate method of
// each is named in a toolgen.yaml: an exported method of an exported type that
// takes a context or returns an error, and has data to take or to return. Then
// the tools are generated and compiled, every schema is checked against the
// meta-schema of JSON Schema 2020-12, and every generated decoder must accept a
// call made from its schema and refuse that call with something wrong in it.
//
// It prints the share of candidates that pass, per package and in all. Those
// that don't stand in omitted.txt with the reason, and a run fails when that
// list, or a share, isn't what it is meant to be.
//
//	go run .           measure
//	go run . -update   write omitted.txt
//	go run . -quick    only generate, and print what is refused
package main

import (
	"flag"
	"fmt"
	"os"
)

// The least shares of candidates that must pass.
const (
	leastInAll   = 0.98
	leastOfOne   = 0.95
	outputFolder = "out"
	omittedFile  = "omitted.txt"
)

func main() {
	update := flag.Bool("update", false, "write "+omittedFile)
	quick := flag.Bool("quick", false, "only generate, and print what is refused")
	flag.Parse()
	if err := run(*update, *quick); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

// A library is one package of the corpus.
type library struct {
	name     string // of the folder of its tools
	path     string
	settings string // of toolgen.yaml, for the whole package
}

// libraries lists the corpus. The modules are pinned in go.mod.
var libraries = []library{
	{name: "github", path: "github.com/google/go-github/v84/github"},
	{name: "s3", path: "github.com/aws/aws-sdk-go-v2/service/s3"},
	{name: "slack", path: "github.com/slack-go/slack"},
	{name: "minio", path: "github.com/minio/minio-go/v7"},
	{name: "godo", path: "github.com/digitalocean/godo"},
	{name: "vault", path: "github.com/hashicorp/vault/api"},
	{name: "redis", path: "github.com/redis/go-redis/v9", settings: "    implementations: {redis.Vector: [VectorFP32, VectorRef, VectorValues]}\n"},
	{name: "core", path: "k8s.io/client-go/kubernetes/typed/core/v1"},
	{name: "moby", path: "github.com/moby/moby/client"},
	{name: "kadm", path: "github.com/twmb/franz-go/pkg/kadm"},
	{name: "etcd", path: "go.etcd.io/etcd/client/v3"},
	{name: "meili", path: "github.com/meilisearch/meilisearch-go"},
	{name: "mongo", path: "go.mongodb.org/mongo-driver/v2/mongo"},
	{name: "gitlab", path: "gitlab.com/gitlab-org/api/client-go"},
}

// acls offers the methods of a builder.
const acls = "params: {b: {options: [NewACLs, Topics, Allow, AllowHosts, Operations]}}"

// choices are what a user would say of single methods.
var choices = map[string]string{
	"kadm.AlterConfigsResponses.On":             "params: {fn: {collect: true}}",
	"kadm.CreatePartitionsResponses.On":         "params: {fn: {collect: true}}",
	"kadm.CreateTopicResponses.On":              "params: {fn: {collect: true}}",
	"kadm.DeleteGroupResponses.On":              "params: {fn: {collect: true}}",
	"kadm.DeleteRecordsResponses.On":            "params: {fn: {collect: true}}",
	"kadm.DeleteTopicResponses.On":              "params: {fn: {collect: true}}",
	"kadm.DescribedGroups.On":                   "params: {fn: {collect: true}}",
	"kadm.DescribedTransactions.On":             "params: {fn: {collect: true}}",
	"kadm.FetchOffsetsResponses.On":             "params: {fn: {collect: true}}",
	"kadm.Client.CreateACLs":                    acls,
	"kadm.Client.DeleteACLs":                    acls,
	"kadm.Client.DescribeACLs":                  acls,
	"kadm.Client.LeaveGroup":                    "params: {b: {options: [LeaveGroup, Reason, InstanceIDs]}}",
	"mongo.Collection.Find":                     "params: {opts: {options: [Find, SetLimit, SetSkip]}}",
	"kadm.ResourceConfigs.On":                   "params: {fn: {collect: true}}",
	"minio.Client.HealthCheck":                  "drop: [0]",
	"mongo.Client.Ping":                         "params: {rp: {hide: true}}",
	"mongo.GridFSBucket.DownloadToStream":       "drop: [0]",
	"mongo.GridFSBucket.DownloadToStreamByName": "drop: [0]",
	"mongo.SearchIndexView.List":                "params: {searchIdxOpts: {hide: true}}",
	"redis.Client.DoRawWriteTo":                 "drop: [0]",
	"redis.Cmdable.TSCreateRuleWithArgs":        "params: {options: {hide: true}}",
}
