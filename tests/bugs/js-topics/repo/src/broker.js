'use strict';

const { checkFilter, checkTopic, matches } = require('./filter');

const NEWS = '$broker/clients';

class Broker {
  constructor() {
    this.clients = new Map();
    this.retained = new Map();
  }

  connect(name, deliver) {
    if (this.clients.has(name)) throw new Error(`${name} is here already`);
    this.clients.set(name, { deliver, filters: new Map(), will: null });
    this.publish(NEWS, `${name} came`);
    return this;
  }

  /** A client that goes without a word leaves its will. */
  disconnect(name, polite = true) {
    const client = this.client(name);
    this.clients.delete(name);
    if (client.will && !polite) {
      this.publish(client.will.topic, client.will.payload);
    }
    this.publish(NEWS, `${name} went`);
  }

  client(name) {
    const client = this.clients.get(name);
    if (!client) throw new Error(`nobody is called ${name}`);
    return client;
  }

  will(name, topic, payload) {
    checkTopic(topic);
    this.client(name).will = { topic, payload };
  }

  subscribe(name, filter, quality = 0) {
    checkFilter(filter);
    const client = this.client(name);
    client.filters.set(filter, quality);
    for (const [topic, message] of this.retained) {
      if (matches(filter, topic)) {
        client.deliver({ topic, ...message, retained: true,
          quality: Math.min(quality, message.quality) });
      }
    }
  }

  unsubscribe(name, filter) {
    return this.client(name).filters.delete(filter);
  }

  /** Everybody gets it once, with the best quality of the filters that match. */
  publish(topic, payload, { quality = 0, retain = false } = {}) {
    checkTopic(topic);
    if (retain && payload === '') this.retained.delete(topic);
    else if (retain) this.retained.set(topic, { payload, quality });
    let count = 0;
    for (const { deliver, filters } of this.clients.values()) {
      const offers = [...filters].filter(([f]) => matches(f, topic));
      if (offers.length > 0) {
        const best = Math.max(...offers.map(([, q]) => q));
        deliver({ topic, payload, quality: Math.min(best, quality) });
        count += 1;
      }
    }
    return count;
  }
}

module.exports = { Broker };
