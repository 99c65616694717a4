/**
 * A clock that a run can advance, for third-party servers that read the time from `Date`: `POST /control/advance` with
 * `{ "seconds": n }`, the target's procedure `advance`. Import it before the server.
 *
 * @module
 */
const RealDate = Date;
let offset = 0;

globalThis.Date = class Date extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [RealDate.now() + offset] : parts));
  }

  static now() {
    return RealDate.now() + offset;
  }
};

/** Handles a control request. Returns whether the request was one. */
export async function handleClockRequest(request, response) {
  if (request.method !== "POST" || request.url !== "/control/advance") return false;
  let text = "";
  for await (const chunk of request) text += chunk;
  offset += Number(JSON.parse(text).seconds) * 1000;
  response.writeHead(204).end();
  return true;
}
