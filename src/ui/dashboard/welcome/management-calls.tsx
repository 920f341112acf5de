import { CommandText } from '../../kit/command-text.tsx';
import { type CommandRequest, toCurl } from '../../kit/curl.ts';
import { texts } from '../../texts/texts.ts';

/** The requests of a step as commands; the access key is a variable. */
export const ManagementCalls = ({ requests }: { requests: readonly CommandRequest[] }) => (
  <details>
    <summary className="w-fit text-small text-dim">{texts.welcome.behind}</summary>
    <div className="mt-2 flex flex-col gap-2">
      {requests.map(({ url, ...request }) => {
        const address = new URL(url, location.origin).href;
        // The variable is outside of the single quotes, so that the shell expands it.
        const command = toCurl({ ...request, url: address, headers: {} }).replace(
          'curl -sS',
          'curl -sS -H "Authorization: $ACCESS_KEY"',
        );
        return <CommandText key={`${request.method} ${url}`} command={command} label={texts.kit.copy} />;
      })}
    </div>
  </details>
);
