/**
 * Trivet on AWS Lambda, behind a function URL with the invoke mode RESPONSE_STREAM. Environment: ISSUER, the https URL of
 * the server, and DATABASE_URL, a PostgreSQL database.
 *
 * @module
 */
import process from "node:process";
import { handleLambdaEventWithStream } from "srvx/aws-lambda";
import { createTrivet, tool } from "trivet";
import { postgresStore } from "trivet/store/postgres";

const trivet = createTrivet({
  issuer: process.env.ISSUER,
  store: postgresStore(process.env.DATABASE_URL),
  mcp: {
    auth: "required",
    tools: [tool({
      name: "count",
      description: "Counts to a number, and reports progress.",
      input: {
        type: "object",
        properties: { to: { type: "integer", minimum: 1, maximum: 10 } },
        required: ["to"],
      },
      async run({ to }, { progress }) {
        for (let i = 1; i <= to; i++) await progress(i, to);
        return `counted to ${to}`;
      },
    })],
  },
});

export const handler = globalThis.awslambda.streamifyResponse(async (event, responseStream, context) => {
  // Open connections to the database must not keep the invocation running.
  context.callbackWaitsForEmptyEventLoop = false;
  // Lambda freezes the process at the end of an invocation: work that goes on after the response ends before.
  const pending = [];
  const answer = (request) =>
    trivet.fetch(request, {
      ip: request.ip,
      isBodyBuffered: true,
      isIsolated: true,
      waitUntil: (promise) => pending.push(promise),
    });
  await handleLambdaEventWithStream(answer, event, responseStream, context);
  await Promise.allSettled(pending);
});
