"""A point in time together with the text in which the forge writes it: mostly whole seconds in UTC, sometimes with a
fraction or an offset (RFC 3339 §5.6), always the same text for the same fact."""

from datetime import datetime, timedelta, timezone

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Moment:
    def __init__(self, microseconds, text):
        self.microseconds = microseconds
        self.text = text

    @staticmethod
    def seconds_of(year, month, day, hour=0):
        return int((datetime(year, month, day, hour, tzinfo=timezone.utc) - EPOCH).total_seconds())

    @staticmethod
    def plain(seconds):
        return Moment(seconds * 1_000_000, f"{_clock(seconds, 0)}Z")

    @staticmethod
    def varied(seconds, dice):
        """The same second, now and then written as imported or mobile clients write it."""
        form = dice.below(20)
        if form == 0:
            fraction = dice.between(1, 999)
            return Moment(seconds * 1_000_000 + fraction * 1_000, f"{_clock(seconds, 0)}.{fraction:03}Z")
        if form == 1:
            fraction = dice.between(1, 999_999)
            return Moment(seconds * 1_000_000 + fraction, f"{_clock(seconds, 0)}.{fraction:06}Z")
        if form == 2:
            return Moment(seconds * 1_000_000, f"{_clock(seconds, 120)}+02:00")
        if form == 3:
            return Moment(seconds * 1_000_000, f"{_clock(seconds, -210)}-03:30")
        return Moment.plain(seconds)


def _clock(seconds, offset_minutes):
    local = EPOCH + timedelta(seconds=seconds, minutes=offset_minutes)
    return local.strftime("%Y-%m-%dT%H:%M:%S")


def http_date(seconds):
    """RFC 9110 §5.6.7; written out because strftime's day and month names follow the locale."""
    moment = EPOCH + timedelta(seconds=seconds)
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[moment.weekday()]
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[moment.month - 1]
    return f"{day}, {moment.day:02} {month} {moment.year} {moment.strftime('%H:%M:%S')} GMT"
