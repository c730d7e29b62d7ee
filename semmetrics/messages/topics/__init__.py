"""The messages of each topic. `semmetrics.messages.catalog` combines them."""
