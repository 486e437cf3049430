package storage

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// service is the name of the service on the wire.
const service = "example.storage.v1.Storage"

// Client calls the API. A generated client has the same methods.
type Client struct{ conn *grpc.ClientConn }

// Dial returns a client of the server at an address.
func Dial(address string) (*Client, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(), grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{})))
	if err != nil {
		return nil, err
	}
	return &Client{conn: conn}, nil
}

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// GetAccount reads an account.
func (c *Client) GetAccount(ctx context.Context, req *GetAccountRequest) (*Account, error) {
	return call[Account](ctx, c, "GetAccount", req)
}

// CreateAccount starts to create an account.
func (c *Client) CreateAccount(ctx context.Context, account *Account) (*Operation, error) {
	return call[Operation](ctx, c, "CreateAccount", account)
}

// GetBucket reads a bucket.
func (c *Client) GetBucket(ctx context.Context, req *GetBucketRequest) (*Bucket, error) {
	return call[Bucket](ctx, c, "GetBucket", req)
}

// CreateBucket starts to create a bucket.
func (c *Client) CreateBucket(ctx context.Context, bucket *Bucket) (*Operation, error) {
	return call[Operation](ctx, c, "CreateBucket", bucket)
}

// GetOperation polls an operation.
func (c *Client) GetOperation(ctx context.Context, req *GetOperationRequest) (*Operation, error) {
	return call[Operation](ctx, c, "GetOperation", req)
}

func call[Response any](ctx context.Context, c *Client, method string, req any) (*Response, error) {
	res := new(Response)
	if err := c.conn.Invoke(ctx, "/"+service+"/"+method, req, res); err != nil {
		return nil, err
	}
	return res, nil
}

// codec makes gRPC send the messages as JSON.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func (codec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }
func (codec) Name() string                       { return "json" }
