/** Sign-in state of the landing page: the session cookie is sent to `/api` only, and no script can read it. */

const state = document.querySelector('#session');
if (state) {
  showSession().catch(() => {
    state.textContent = 'The session cannot be read: no response.';
  });
}

async function showSession() {
  state.textContent = 'Reading the session…';
  const response = await fetch('/api/session', { headers: { accept: 'application/json' } });
  if (response.status === 401) {
    state.textContent = 'No session in this browser: operations take an access key.';
    return;
  }
  const { user } = await response.json();
  state.textContent = response.ok
    ? `Signed in as ${user.email_address}. The forms of the reference use this session.`
    : `The session cannot be read: status ${response.status}.`;
}
