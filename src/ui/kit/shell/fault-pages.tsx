import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { MapPinOff, RefreshCw } from 'lucide-react';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { Button, buttonClass } from '../button.tsx';
import { Notice } from '../states.tsx';

/** Unknown address, inside of the `main` of the shell; `home` is the first page of the app. */
export const NotFoundNotice = ({ home }: { home: string }) => (
  <>
    <h1 className="sr-only">{sharedTexts.kit.notFound}</h1>
    <Notice
      icon={MapPinOff}
      title={sharedTexts.kit.notFound}
      action={
        <Link to={home} className={buttonClass('primary')}>
          {sharedTexts.shell.goTo(sharedTexts.shell.pages.home)}
        </Link>
      }
    >
      {sharedTexts.kit.notFoundHelp}
    </Notice>
  </>
);

/** Failure of a page itself: mostly a chunk of a build that is no longer there. */
export const FailedPage = ({ error }: ErrorComponentProps) => (
  <main className="p-6">
    <h1 className="sr-only">{sharedTexts.kit.failed}</h1>
    <Notice
      icon={RefreshCw}
      title={sharedTexts.kit.failed}
      action={
        <Button kind="primary" onClick={() => location.reload()}>
          {sharedTexts.shell.reload}
        </Button>
      }
    >
      <p>{sharedTexts.shell.outdated}</p>
      <p className="font-mono text-small">{error instanceof Error ? error.message : String(error)}</p>
    </Notice>
  </main>
);
