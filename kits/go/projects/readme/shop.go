// Package readme has the examples of the kit's README.
package readme

import gocql "github.com/apache/cassandra-gocql-driver/v2"

// Shop reads the carts of a shop.
type Shop struct {
	cluster *gocql.ClusterConfig
}

// NewShop returns the shop of a server, whose address is that of the native protocol.
func NewShop(address string) *Shop {
	cluster := gocql.NewCluster(address)
	cluster.DisableInitialHostLookup = true
	return &Shop{cluster}
}

// Items returns the items of a cart, or an error as a text.
func (s *Shop) Items(id int) (items string) {
	session, err := s.cluster.CreateSession()
	if err != nil {
		return err.Error()
	}
	defer session.Close()
	if err := session.Query("SELECT items FROM shop.carts WHERE id = ?", id).Scan(&items); err != nil {
		return err.Error()
	}
	return items
}
