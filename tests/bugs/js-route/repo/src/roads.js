'use strict';

const ROAD = { minutes: 1, weight: Infinity, height: Infinity, oneway: false };

/** Places and the roads between them. */
class Roads {
  constructor() {
    this.from = new Map();
    this.closed = new Set();
  }

  /** weight (tons) and height (metres) are the most that a road bears. */
  add(name, a, b, facts = {}) {
    const road = { name, a, b, ...ROAD, ...facts };
    if (!(road.minutes > 0)) throw new RangeError(`${name} takes no time`);
    this.leave(a, road);
    this.leave(b, road);
    return this;
  }

  leave(place, road) {
    if (!this.from.has(place)) this.from.set(place, []);
    this.from.get(place).push(road);
  }

  close(name) {
    this.closed.add(name);
  }

  /** May this vehicle go along the road, beginning at that end? */
  passable(road, place, vehicle) {
    if (this.closed.has(road.name)) return false;
    if (road.oneway && road.b === place) return false;
    return vehicle.weight <= road.weight;
  }

  /** [road, other end] for all that can be taken. */
  leaving(place, vehicle) {
    return (this.from.get(place) || [])
      .filter((road) => this.passable(road, place, vehicle))
      .map((road) => [road, road.a === place ? road.b : road.a]);
  }
}

module.exports = { Roads };
