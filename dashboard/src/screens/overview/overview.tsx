import { PageHead } from '../../ui/card'

export function Overview() {
  return <PageHead title="Overview" />
}
