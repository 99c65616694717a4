/**
 * Sends the responses that are ready in one turn of the event loop together, after it, while turns have many. Sent one by
 * one, each of them wakes a client or proxy on the same machine that waits for it: with 16 connections that was a quarter of
 * the processor time of an authorization request. With up to four connections waiting takes more time than it saves.
 *
 * @module
 */
import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers";

/** Responses wait from a turn with so many on, */
const MANY = 8;
/** until a turn has fewer than these: a turn has about half as many when they wait. */
const FEW = 4;
/** So many responses do not wait for another one. */
const MAX_WAITING = 16;
/** The responses of one turn are counted after each of so many responses: to count takes 4 microseconds. */
const RESPONSES_PER_COUNT = 64;

/** Sends a response. Must not throw. */
export type SendResponse = (res: ServerResponse, response: Response) => void;

/** A `SendResponse` whose responses wait for the end of their turn while turns have many, and at most 15 others. */
export function createResponseQueue(send: SendResponse): SendResponse {
  let waiting: [ServerResponse, Response][] = [];
  let isQueueing = false;
  let isCounting = false;
  /** Responses of this turn while they wait; else those since the last count. */
  let count = 0;

  function sendAll(): void {
    const all = waiting;
    waiting = [];
    for (const [res, response] of all) send(res, response);
  }

  function endTurn(): void {
    sendAll();
    isQueueing = count >= FEW;
    count = 0;
  }

  function countTurn(): void {
    count = 0;
    setImmediate(() => {
      isQueueing = count >= MANY;
      isCounting = false;
      count = 0;
    });
  }

  return (res, response) => {
    count++;
    if (isQueueing) {
      if (count === 1) setImmediate(endTurn);
      if (waiting.push([res, response]) === MAX_WAITING) sendAll();
      return;
    }
    if (count >= RESPONSES_PER_COUNT && !isCounting) {
      isCounting = true;
      setImmediate(countTurn);
    }
    send(res, response);
  };
}
