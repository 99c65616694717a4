/**
 * A clock that a run can move on, for servers of others that read the time from `Date`: `POST /control/advance` with
 * `{ "seconds": n }`, as in the target's procedure `advance`. Import it before the server.
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

/** Answers the control address. Whether it was that. */
export async function moveClock(request, response) {
  if (request.method !== "POST" || request.url !== "/control/advance") return false;
  let text = "";
  for await (const chunk of request) text += chunk;
  offset += Number(JSON.parse(text).seconds) * 1000;
  response.writeHead(204).end();
  return true;
}
