//go:build corpus

package main

// The packages of the corpus, so that go.mod has them.
import (
	_ "github.com/aws/aws-sdk-go-v2/service/s3"
	_ "github.com/digitalocean/godo"
	_ "github.com/google/go-github/v84/github"
	_ "github.com/hashicorp/vault/api"
	_ "github.com/meilisearch/meilisearch-go"
	_ "github.com/minio/minio-go/v7"
	_ "github.com/moby/moby/client"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/slack-go/slack"
	_ "github.com/twmb/franz-go/pkg/kadm"
	_ "gitlab.com/gitlab-org/api/client-go"
	_ "go.etcd.io/etcd/client/v3"
	_ "go.mongodb.org/mongo-driver/v2/mongo"
	_ "k8s.io/client-go/kubernetes/typed/core/v1"
)
