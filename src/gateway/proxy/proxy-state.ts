/**
 * States of `ProxyRequest`.
 *
 * | state          | meaning                                           | left by                                         |
 * |----------------|---------------------------------------------------|-------------------------------------------------|
 * | `waiting`      | for a slot at the upstream                        | `#dispatch`: `connecting`                       |
 * | `connecting`   | dispatched, without a response head               | `#receiveHead`: `buffering` or `head-pending`;  |
 * |                |                                                   | `onError`: `connecting` again, one retry        |
 * | `buffering`    | collects the body for a step                      | `onComplete`: `received`                        |
 * | `head-pending` | response steps run, the body is paused            | `#writeHead`: `streaming`; `#replace`: `done`;  |
 * |                |                                                   | `onComplete`: `received`                        |
 * | `received`     | the response is complete, response steps run      | `#onStepsRun`, `#writeBuffered`: `done`         |
 * | `streaming`    | the head is written                               | `#end`: `done`                                  |
 * | `done`         | ended, or failed in any state (`onError`)         |                                                 |
 */
export type ProxyState = 'waiting' | 'connecting' | 'buffering' | 'head-pending' | 'received' | 'streaming' | 'done';
