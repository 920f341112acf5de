import { problems } from '#base/problems.ts';

export const problem = problems('proxy', {
  not_a_gateway: { status: 403, message: 'url: access denied: only the gateway can be called, at {gateways}' },
  not_own_api: { status: 403, message: 'url: access denied: the path can reach an API that is not yours' },
  too_many_calls: { status: 429, message: 'The organisation has {maxCalls} calls in progress, try again in a moment' },
});
