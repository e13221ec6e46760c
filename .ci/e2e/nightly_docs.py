"""The pages which take longer: the tutorial, the capacity, a comparison."""

from check_docs import LONG, hold, pages
from harness import check, expect


@check("docs: the tutorial, the capacity and a comparison run as they are written")
def long(tmp):
    expect(set(LONG) <= set(pages()), "pages are gone")
    hold(tmp, LONG)
