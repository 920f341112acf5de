import { problems } from '#base/problems.ts';

export const problem = problems('organisation', {
  test_mail_limited: { status: 429, message: 'Too many test mails; try again {when}' },
  test_mail_failed: { status: 502, message: 'The mail server did not accept the mail: {reason}' },
});
