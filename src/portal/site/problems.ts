import { problems } from '#base/problems.ts';

/** Problems of the pages. */
export const problem = problems('site', {
  form_expired: { status: 403, message: 'The form is no longer valid: go back, load the page again and repeat' },
  request_refused: { status: 422, message: '{reason}' },
  gateway_unavailable: {
    status: 503,
    message: 'The gateway of this product is unavailable at the moment: try again later',
  },
  try_invalid: { status: 422, message: '{reason}' },
  try_limited: { status: 429, message: 'Too many calls from this page: try again in {seconds} seconds' },
  try_busy: { status: 429, message: 'Other calls of yours are in progress: try again when they are done' },
});
