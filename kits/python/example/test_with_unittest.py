"""The same without pytest: `python -m unittest test_with_unittest`."""

import unittest

from blog import Blog

from thriftstore import ThriftstoreTestCase


class BlogTest(ThriftstoreTestCase, unittest.TestCase):
    thriftstore_options = {"compat": "1.2"}

    def setUp(self):
        self.blog = Blog(self.thriftstore.thrift)
        self.addCleanup(self.blog.close)

    def test_a_post(self):
        self.blog.publish("popcorn", "How to make popcorn")
        self.assertEqual(self.blog.tagged(), ["popcorn"])

    def test_each_test_begins_with_an_empty_blog(self):
        self.assertEqual(self.blog.tagged(), [])
