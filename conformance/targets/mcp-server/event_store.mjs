/**
 * An EventStore of the SDKs: keeps the events of one session in memory and replays those of one stream after the last
 * event that the client received.
 */
export class EventStore {
  #events = [];

  async storeEvent(streamId, message) {
    this.#events.push({ streamId, message });
    return String(this.#events.length);
  }

  async getStreamIdForEventId(eventId) {
    return this.#events[Number(eventId) - 1]?.streamId;
  }

  async replayEventsAfter(lastEventId, { send }) {
    const last = this.#events[Number(lastEventId) - 1];
    if (last === undefined) throw new Error("Unknown event");
    for (const [place, { streamId, message }] of this.#events.entries()) {
      const isLater = place >= Number(lastEventId);
      if (isLater && streamId === last.streamId) {
        await send(String(place + 1), message);
      }
    }
    return last.streamId;
  }
}
