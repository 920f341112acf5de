import { problems } from '#base/problems.ts';

export const problem = problems('sso', {
  id_taken: { status: 409, message: 'ID: another sign-on profile has this ID' },
});
