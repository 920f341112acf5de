import { problems } from '#base/problems.ts';

/** Problems of the pages. */
export const problem = problems('site', {
  form_expired: { status: 403, message: 'The form is no longer valid: go back, load the page again and repeat' },
});
