'use strict';

const { Heap } = require('./heap');
const { Roads } = require('./roads');

const CAR = { weight: 1.5, height: 1.6, rest: Infinity, pause: 0 };

/**
 * The quickest way, or null: { minutes, places, roads }.
 *
 * Whoever has driven `rest` minutes in all makes a pause once.
 */
function route(map, start, goal, given = {}) {
  const vehicle = { ...CAR, ...given };
  const best = new Map([[start, 0]]);
  const came = new Map();
  const heap = new Heap();
  heap.push(0, start);
  while (heap.size > 0) {
    const { key: minutes, value: place } = heap.pop();
    if (minutes > best.get(place)) continue;
    if (place === goal) return trace(came, start, goal, minutes, vehicle);
    for (const [road, next] of map.leaving(place, vehicle)) {
      const then = minutes + road.minutes;
      if (then < (best.has(next) ? best.get(next) : Infinity)) {
        best.set(next, then);
        came.set(next, [place, road]);
        heap.push(then, next);
      }
    }
  }
  return null;
}

function trace(came, start, goal, driven, vehicle) {
  const places = [goal];
  const roads = [];
  while (places[0] !== start) {
    const [place, road] = came.get(places[0]);
    places.unshift(place);
    roads.unshift(road.name);
  }
  const minutes = driven > vehicle.rest ? driven + vehicle.pause : driven;
  return { minutes, places, roads };
}

module.exports = { Heap, Roads, route };
