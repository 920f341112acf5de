import { problems } from '#base/problems.ts';

export const problem = problems('proxy', {
  url_foreign: { status: 403, message: 'url: access denied: only the gateway can be called, at {gateways}' },
  path_foreign: { status: 403, message: 'url: access denied: the path can reach an API that is not yours' },
  path_unknown: { status: 403, message: 'url: access denied: the path reaches none of your APIs' },
  too_many_calls: { status: 429, message: 'The {scope} has {max} calls in progress, try again in a moment' },
});
